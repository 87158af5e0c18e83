"""Words of health, for both languages: lasting conditions, and what is taken against them.

"I have" and "I take" are said of anything, so that what they are said of must be known by name, by
the ending that drugs of one family share, or by a word such as "disease". What passes (a cold, a
headache, a broken arm) is no condition.
"""

from __future__ import annotations

from typing import Final

_DISEASE = (
    r"(?:(?:chronic |fatty )?(?:heart|liver|kidney|lung|bowel)|inflammatory bowel|"
    r"coronary (?:artery|heart)|thyroid|coeliac|celiac|lyme|autoimmune|sickle cell|skin|blood|"
    r"degenerative disc) disease|"
    r"(?:irritable bowel|restless legs?|chronic fatigue|carpal tunnel|down|ehlers-danlos|"
    r"polycystic ovary|marfan|turner) syndrome|"
    r"(?:bipolar|eating|sleep|sleeping|anxiety|panic|bleeding|mood|(?:borderline )?personality|"
    r"obsessive-compulsive|attention deficit|autism spectrum|seizure|blood|"
    r"post-traumatic stress) disorder"
)
_CONDITION = (
    r"(?i:asthma|(?:type[ -][12] |gestational )?diabetes(?: type [12])?|prediabetes|hypertension|"
    r"(?:high|low) blood pressure|high cholesterol|epilepsy|(?:chronic )?migraines|"
    r"(?:rheumatoid |psoriatic )?arthritis|osteoarthritis|(?:ulcerative )?colitis|psoriasis|eczema|"
    r"rosacea|autism|(?:social |generali[sz]ed )?anxiety|(?:clinical |postnatal )?depression|"
    r"schizophrenia|anorexia|bulimia|insomnia|narcolepsy|sleep apno?ea|cystic fibrosis|emphysema|"
    r"acid reflux|gout|osteoporosis|fibromyalgia|lupus|multiple sclerosis|dementia|cerebral palsy|"
    r"scoliosis|endometriosis|hypothyroidism|hyperthyroidism|ana?emia|ha?emophilia|leuka?emia|"
    r"lymphoma|melanoma|(?:[a-z]+ )?cancer|hepatitis [abc]|heart failure|heart condition|"
    r"heart murmur|atrial fibrillation|arrhythmia|angina|hay ?fever|tinnitus|glaucoma|cataracts|"
    r"dyslexia|dyspraxia|dyscalculia|sciatica|chronic (?:[a-z]+ )?(?:pain|fatigue|bronchitis)|"
    rf"long covid|hearing loss|adhd|ocd|c?ptsd|copd|ibs|gerd|pcos|hiv|{_DISEASE})"
    r"|(?:Crohn|Parkinson|Alzheimer|Hashimoto|Asperger|Tourette|Graves)['\u2019]?s?(?: disease| "
    r"syndrome)?|ADD|MS|ALS|POTS"
)
CONDITIONS: Final = (
    rf"(?:{_CONDITION})(?:, (?:{_CONDITION}))*(?:,? and (?:mild |severe |bad )?(?:{_CONDITION}))?"
)
"""One lasting condition or several, in English."""

PASSING: Final = (
    r"(?!(?:an? )?(?:[\w-]+ )?(?:broken|fractured|sprained|torn|bruised|flu|influenza|covid|"
    r"covid-19|cold|infection|concussion|pneumonia|bronchitis|burnout|curiosity|love|"
    r"impost[eo]r)\b)"
)
"""What somebody may be diagnosed with, and be rid of in a month."""

_GERMAN_CONDITION = (
    r"(?i:asthma|diabetes(?: typ [12])?|(?:typ[ -][12][ -])diabetes|bluthochdruck|hypertonie|"
    r"migräne|epilepsie|rheuma|arthrose|arthritis|gicht|heuschnupfen|neurodermitis|"
    r"schuppenflechte|psoriasis|rosazea|autismus|depression(?:en)?|panikattacken|schlafapnoe|"
    r"borderline|schizophrenie|magersucht|bulimie|zöliakie|morbus [a-z]+|reizdarm|"
    r"colitis ulcerosa|multiple sklerose|parkinson|alzheimer|demenz|osteoporose|fibromyalgie|"
    r"lupus|skoliose|endometriose|hashimoto|schilddrüsen(?:unter|über)funktion|anämie|blutarmut|"
    r"eisenmangel|herzrhythmusstörungen|vorhofflimmern|mukoviszidose|(?:[a-zäöü]{3,}krebs|krebs)|leukämie|"
    r"hepatitis [abc]|tinnitus|glaukom|legasthenie|dyskalkulie|tourette|long covid|"
    r"chronische[nr]? (?:[a-zäöü]*schmerzen|migräne|bronchitis|müdigkeit)|"
    r"(?:angst|panik|schlaf|zwangs|ess|persönlichkeits|aufmerksamkeits|durchblutungs|gerinnungs|"
    r"hör|seh|stoffwechsel|belastungs)störung(?:en)?|"
    r"(?:herz|leber|nieren|lungen|schilddrüsen|darm|erb|autoimmun|haut|augen|muskel|nerven)"
    r"(?:krankheit|erkrankung)|(?:herz|nieren|leber|venen)insuffizienz|"
    r"(?:restless-legs-|down-?|karpaltunnel|marfan-?|tourette-?|reizdarm)syndrom|"
    r"adhs|ptbs|copd|pcos|hiv)"
    r"|ADS|MS|ALS"
)
GERMAN_CONDITIONS: Final = (
    rf"(?:{_GERMAN_CONDITION})(?:, (?:{_GERMAN_CONDITION}))*(?: und (?:{_GERMAN_CONDITION}))?"
)
"""One lasting condition or several, in German."""

_FAMILIES = (
    r"[a-z]{3,}(?:pril|sartan|olol|statin|prazole?|conazole?|cillin|mycin|floxacin|cycline?|formin|"
    r"gliptin|gliflozin|glutide?|xaban|gatran|triptan|oxetine?|traline?|opram|dipine?|profen|zepam|"
    r"zolam|semide?|thiazide?|parin|metasone?|nisolone?|terol|lukast|dronate?|clovir|umab|tinib)"
)
"""Names of drugs, by the endings that the World Health Organization gives to their families."""
_DRUG = (
    rf"{_FAMILIES}|insulin|aspirin|paracetamol|acetaminophen|naproxen|tramadol|codeine?|morphine?|"
    r"oxycodone?|gabapentin|pregabalin|l-thyroxin|levothyroxine?|thyroxine?|euthyrox|prednisone?|"
    r"[ck]ortisone?|methotrexate?|warfarin|marcumar|clopidogrel|digoxin|lithium|lamotrigine?|"
    r"valproate?|quetiapine?|olanzapine?|aripiprazole?|risperidone?|clozapine?|venlafaxine?|"
    r"bupropion|mirtazapine?|amitriptyline?|trazodone?|methylphenidate?|ritalin|medikinet|concerta|adderall|"
    r"vyvanse|elvanse|strattera|prozac|zoloft|lexapro|cymbalta|wellbutrin|xanax|valium|seroquel|"
    r"lipitor|crestor|plavix|eliquis|xarelto|ozempic|wegovy|mounjaro|humira|enbrel|stelara|"
    r"dupixent|ventolin|symbicort|salbutamol|cetirizine?|loratadine?|tamoxifen|letrozole?|"
    r"finasteride?|tamsulosin|spironolactone?|hydroxychloroquine?|azathioprine?|mesalazine?|"
    r"allopurinol|colchicine?|melatonin|estradiol|testosterone?"
)
_ENGLISH_KIND = (
    r"blood thinners|beta[- ]blockers|ace inhibitors|statins|antidepressants|ssris|antibiotics|"
    r"antihistamines|antipsychotics|painkillers|sleeping pills|birth control(?: pills)?|"
    r"(?:blood pressure|iron|thyroid|asthma|heart|adhd|allergy|diabetes) "
    r"(?:tablets|pills|medication|meds|supplements)|vitamin [a-z]\d*"
)
_GERMAN_KIND = (
    r"blutverdünner|betablocker|antidepressiva|antibiotika|antihistaminika|blutdrucksenker|"
    r"(?:blutdruck|schmerz|schilddrüsen|eisen|schlaf|herz)(?:tabletten|mittel)|vitamin [a-z]\d*"
)
MEDICATION: Final = rf"(?i:{_DRUG}|{_ENGLISH_KIND})"
MEDICATIONS: Final = rf"{MEDICATION}(?:, {MEDICATION})*(?:,? and {MEDICATION})?"
"""One medication or several, in English."""

_GERMAN_MEDICATION = rf"(?i:{_DRUG}|{_GERMAN_KIND})"
GERMAN_MEDICATIONS: Final = (
    rf"{_GERMAN_MEDICATION}(?:, {_GERMAN_MEDICATION})*(?: und {_GERMAN_MEDICATION})?"
)
"""One medication or several, in German."""
