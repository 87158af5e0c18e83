// Made by tests/typescript_client.py from docs/openapi.json; do not edit.

/** What a server refused, with its stable code. */
export class TenureError extends Error {
  readonly status: number;
  readonly code: string;
  readonly kind: string;
  readonly data: Record<string, unknown>;
  readonly errors: { pointer: string; detail: string }[];
  readonly traceId: string;
  /** Seconds after which the call may be tried again. */
  readonly retryAfter?: number;
}

export interface CallOptions {
  signal?: AbortSignal;
}

export interface WriteOptions extends CallOptions {
  /** Of the write: the same key gives the first answer again. By default a new one. */
  idempotencyKey?: string;
}

export interface DecideOptions extends WriteOptions {
  /** The version of the case that was seen; by default `version` of the request, else any. */
  ifMatch?: number | "*";
}

export interface ListOptions extends CallOptions {
  /** Entries a page, at most 500. */
  pageSize?: number;
}

export interface Page<T> {
  items: T[];
  next_cursor: string | null;
  tx?: string | null;
  valid?: string | null;
}

/** The entries of a listing, read page by page. */
export class Listing<T> implements AsyncIterable<T> {
  page(cursor?: string): Promise<Page<T>>;
  all(): Promise<T[]>;
  [Symbol.asyncIterator](): AsyncIterator<T>;
}

export interface TenureOptions {
  /** Of `tenure keys create`, or a token of `tokens`. */
  key?: string;
  fetch?: typeof globalThis.fetch;
  /** How often a call is tried again after 429, 503 or a lost connection; by default twice. */
  retries?: number;
}

/** A tenure server. */
export class Tenure {
  constructor(url: string, options?: TenureOptions);
  /** `memory.as_of`; needs the permit `memory:read`. Return the view of (valid, tx); None means now. `as_of()` is what is true now, `as_of(t, t)` what was believed at t, and `as_of(v, k)` what was true at v as known at k. */
  asOf(request?: AsOfRequest, options?: CallOptions): Promise<PointInTimeAnswer>;
  caller(request?: Record<string, never>, options?: CallOptions): Promise<{
  permits: Array<string>;
  principal: Record<string, unknown>;
}>;
  /** `memory.close_scope`; needs the permit `admin:*`. Retire what lived only until a `session`, `task` or `project` closed. Who is in a session closes it for its own user; all else is an operator's. */
  closeScope(request: CloseScopeRequest, options?: WriteOptions): Promise<SweepReceiptAnswer>;
  /** `memory.compile`; needs the permit `context:compile`. Compile the context envelope of a task: permission-safe, current, within budget. `task` is a task type; the further fields are those of a request, `user` whom it is for. The same view, request and policy give the same bytes. What stayed out is in `envelope.trace`, with the stage and the reason. */
  compile(request: CompileRequest, options?: CallOptions): Promise<EnvelopeRecordAnswer>;
  /** `memory.diff`; needs the permit `memory:read`. Return the changes of belief after tx1, up to and with tx2, in order of tx. */
  diff(request: DiffRequest, options?: ListOptions): Listing<ChangeAnswer>;
  /** `memory.doctor`; needs the permit `admin:*`. Check every invariant of the tenant; return a sentence for each that is broken. */
  doctor(request?: DoctorRequest, options?: ListOptions): Listing<string>;
  /** `memory.erase`; needs the permit `erase:execute`. Empty an object, or an entity with all that is said about it; a tombstone stays. A `document`, by its name, goes with every version, its original and its passages. Now the slots show what resurfaces; at an earlier tx they show `erased`. The reason stays: name a case in it. */
  erase(request: EraseRequest, options?: WriteOptions): Promise<ErasureReceiptAnswer>;
  /** `memory.erase_session`; needs the permit `erase:execute`. Empty every text of a session, this caller's or a user's, and close it. The ids of the objects that went with it are returned, sorted: its checkpoints. */
  eraseSession(request: EraseSessionRequest, options?: WriteOptions): Promise<Array<string>>;
  /** `memory.explain`; needs the permit `memory:read`. Return where an object comes from, what it met, and what was compiled from it. The id of a write that confirmed or took back what stood leads to what stood, and that of what another line of the same write replaced to what replaced it. */
  explain(request: ExplainRequest, options?: CallOptions): Promise<ExplanationAnswer>;
  export(request?: { keys?: string }, options?: CallOptions): Promise<AsyncIterable<Record<string, unknown>>>;
  /** `memory.history`; needs the permit `memory:read`. Return every version of a slot on both axes, oldest transaction first. */
  history(request: HistoryRequest, options?: ListOptions): Listing<HistoryRowAnswer>;
  import(request: string | Uint8Array | Blob | ReadableStream, options?: CallOptions): Promise<{
  records: number;
  tenant: string;
}>;
  importAbort(request?: Record<string, never>, options?: CallOptions): Promise<{
  aborted: boolean;
}>;
  ingest(request: string | Uint8Array | Blob | ReadableStream, options?: CallOptions): Promise<IngestReportAnswer>;
  /** `memory.log`; needs the permit `memory:read`. Who did what and when, newest first: the caller's own transactions. Auditors, administrators and owners read those of everybody. `since` is left out of the span and `until` is in it; with `entity` only what changed the beliefs about it. */
  log(request?: LogRequest, options?: ListOptions): Listing<LogEntryAnswer>;
  /** `memory.mentions`; needs the permit `memory:read`. Return the names in a text with what each means; nothing is created. */
  mentions(request: MentionsRequest, options?: ListOptions): Listing<ResolvedMentionAnswer>;
  /** `memory.observe`; needs the permit `memory:write`. Keep a text verbatim and write the claims it makes about its speaker. The receipt of the passage comes first, then one for each claim; all share one transaction. `at` is when it was said, now by default. `text` may be the messages of a conversation as a provider takes them, each kept in a transaction of its own: those of the user are said by `speaker`, by default the caller's own user, those of the assistant and of tools by nobody, at the levels of their origins `agent://` and `tool://`. The passage is linked to the entities it names; `mentions` states some as (start, end, whom), and these win over what is found. `explain` tells the links. Text and claims are in the caller's user, else in its session. A `layer` of `session`, `task` or `project` narrows that, and they end with it; `decay_rule` (`half_life_days`, `minimum_threshold`) is that of the text, which else does not fade. */
  observe(request: ObserveRequest, options?: WriteOptions): Promise<Array<ReceiptAnswer>>;
  /** `memory.policy`; needs the permit `memory:read`. The policy pack in force. */
  policy(request?: PolicyRequest, options?: CallOptions): Promise<PolicyAnswer>;
  /** `memory.promote`; needs the permit `review:decide`. Say what an object says in a wider scope; `scope={}` is the whole tenant. The promoted object is a new one, derived from the first; retract it to take it back. */
  promote(request: PromoteRequest, options?: WriteOptions): Promise<ReceiptAnswer>;
  reEmbed(request?: Record<string, never>, options?: CallOptions): Promise<{
  embedded: number;
  missing: number;
}>;
  /** `memory.reclassify`; needs the permit `admin:*`. Change who may see an object, at all times at once; what is not stated stays. */
  reclassify(request: ReclassifyRequest, options?: WriteOptions): Promise<ReclassifyReceiptAnswer>;
  /** `memory.rehydrate`; needs the permit `memory:read`. Return what an artifact's address, or an object's id, represents, whole. With `envelope` also what a number that its text shows represents, such as `[7]`. */
  rehydrate(request: RehydrateRequest, options?: CallOptions): Promise<OriginalAnswer>;
  /** `memory.replay`; needs the permit `context:compile`. Return the same bytes again, from a manifest, an envelope or an envelope id. */
  replay(request: ReplayRequest, options?: CallOptions): Promise<EnvelopeRecordAnswer>;
  /** `memory.replay_import`; needs the permit `admin:*`. Load a history of events with explicit, rising `recorded_at`; privileged. */
  replayImport(request: ReplayImportRequest, options?: WriteOptions): Promise<IngestReportAnswer>;
  /** `memory.sweep`; needs the permit `admin:*`. Retire what has decayed below its threshold, `limit` objects at once; privileged. */
  sweep(request?: SweepRequest, options?: WriteOptions): Promise<SweepReceiptAnswer>;
  tokens(request?: {
  authority_level?: number;
  clearance?: string;
  projects?: Array<string>;
  roles?: Array<string>;
  session?: string | null;
  user?: string | null;
}, options?: CallOptions): Promise<{
  expires_at: number;
  token: string;
}>;
  version(request?: Record<string, never>, options?: CallOptions): Promise<{
  version: string;
}>;
  /** `memory.view.plane`; needs the permit `memory:read`. Everything that was ever believed of a slot over both times, with this view marked. It reaches to what is known today, also where the view is of an earlier time. The value draws itself: `.text()`, `.svg()`, in a notebook, and `.sentence` says the answer. */
  viewPlane(request: ViewPlaneRequest, options?: CallOptions): Promise<TimePlaneAnswer>;
  /** `memory.what_if`; needs the permit `context:compile`. An envelope next to what its request gives under another budget, roles, valid or tx. */
  whatIf(request: WhatIfRequest, options?: CallOptions): Promise<WhatIfAnswer>;
  /** `memory.write`; needs the permit `memory:write`. Write one claim, or one text, and return its receipt. The subject is a name, an entity id or an `EntityRef`; it is resolved before the write. The further fields are those of `Write`: `valid_from` defaults to the write's own stamp, `valid_until` to open. With `dry_run` the receipt says what would happen and nothing is written. */
  write(request?: WriteRequest, options?: WriteOptions): Promise<ReceiptAnswer>;
  /** `memory.write_many`; needs the permit `memory:write`. Write several claims in order, in one transaction with one stamp: all or nothing. */
  writeMany(request: WriteManyRequest, options?: WriteOptions): Promise<Array<ReceiptAnswer>>;
  readonly actions: {
    /** `memory.actions.actions`; needs the permit `memory:read`. The same as `list`, for `memory.actions()`. */
    actions(request?: ActionsActionsRequest, options?: ListOptions): Listing<ActionAnswer>;
    /** `memory.actions.list`; needs the permit `memory:read`. Return the actions, oldest first; `status` is `open`, `closed` or `all`. */
    list(request?: ActionsListRequest, options?: ListOptions): Listing<ActionAnswer>;
    /** `memory.actions.resolve`; needs the permit `review:decide`. Settle an action: a tie by its winner or a value, any other by accepting or not. A tie is settled by an ordinary `correct` at the caller's level, over the tie's interval, and its receipt is returned. */
    resolve(request: ActionsResolveRequest, options?: WriteOptions): Promise<ActionReceiptAnswer | ReceiptAnswer>;
    /** `memory.actions.undo`; needs the permit `review:decide`. Take a decision back: retract what it wrote, and ask the question again. The receipt holds the id of the question that is open now. The settled one stays in the history. */
    undo(request: ActionsUndoRequest, options?: WriteOptions): Promise<ActionReceiptAnswer>;
  };
  readonly artifacts: {
    /** `memory.artifacts.erase`; needs the permit `erase:execute`. Remove the bytes for ever, with every envelope that was compiled from them. A tombstone (who, when, why) stays. It cannot be undone. */
    erase(request: ArtifactsEraseRequest, options?: WriteOptions): Promise<null>;
    /** `memory.artifacts.exists`; needs the permit `memory:read`. Tell whether the caller could read an artifact. */
    exists(request: ArtifactsExistsRequest, options?: CallOptions): Promise<boolean>;
    /** `memory.artifacts.get`; needs the permit `memory:read`. Return the bytes of an artifact, checked against its address. With `scope` it is looked for in that scope alone. */
    get(request: ArtifactsGetRequest, options?: CallOptions): Promise<Uint8Array>;
    /** `memory.artifacts.info`; needs the permit `memory:read`. Return what an artifact is and who may read it. */
    info(request: ArtifactsInfoRequest, options?: CallOptions): Promise<ArtifactAnswer>;
    /** `memory.artifacts.list`; needs the permit `memory:read`. Return the artifacts that the caller may read, newest first, each once. */
    list(request?: ArtifactsListRequest, options?: ListOptions): Listing<ArtifactAnswer>;
    /** `memory.artifacts.put`; needs the permit `memory:write`. Keep bytes, or a text in UTF-8, and return its artifact; the same again is the same. Without a scope it is the caller's session, else the user, else the tenant. Erasing one of `object_ids` erases the artifact too. */
    put(request: ArtifactsPutRequest, options?: WriteOptions): Promise<ArtifactAnswer>;
    /** `memory.artifacts.text`; needs the permit `memory:read`. Return an artifact as text. */
    text(request: ArtifactsTextRequest, options?: CallOptions): Promise<string>;
  };
  readonly documents: {
    /** `memory.documents.cite`; needs the permit `memory:read`. Where passages stand in the versions of a point, by object id; all else is left out. */
    cite(request: DocumentsCiteRequest, options?: CallOptions): Promise<Record<string, CitationAnswer>>;
    /** `memory.documents.compare`; needs the permit `memory:read`. What the version of one date has that the version of another has not. */
    compare(request: DocumentsCompareRequest, options?: CallOptions): Promise<DocumentComparisonAnswer>;
    /** `memory.documents.get`; needs the permit `memory:read`. A document as of a point: its passages in order, each with its citation. */
    get(request: DocumentsGetRequest, options?: CallOptions): Promise<DocumentAnswer>;
    /** `memory.documents.list`; needs the permit `memory:read`. The documents that have a version at a point and that the caller may see, by name. */
    list(request?: DocumentsListRequest, options?: ListOptions): Listing<DocumentViewAnswer>;
    /** `memory.documents.put`; needs the permit `memory:write`. Take in a file as the version of a document that holds from `effective`. Without `effective` the date is that of its front matter, of the words behind "effective from" in its first 3,000 characters, of the message, or the time of recording. Equal bytes write nothing. Other bytes with the same date correct that version. With `governs` the readers become those of all versions that are stored. With `claims`, `rules` or `model`, each new passage is searched for claims, which end with it. With `check` the report says what would happen. An export of ChatGPT, Claude, Slack or WhatsApp is observed message by message: `own` is the author who is the caller, `zone` and `dates` (`day` or `month` first) say how its times are read. `former` names documents of which it may be one under a new name: that of equal bytes, or of the most passages, goes on as this one. */
    put(request: DocumentsPutRequest, options?: WriteOptions): Promise<DocumentReportAnswer>;
    /** `memory.documents.reclassify`; needs the permit `admin:*`. Change who may see a document, at all times at once; return how many objects changed. */
    reclassify(request: DocumentsReclassifyRequest, options?: WriteOptions): Promise<number>;
    /** `memory.documents.remove`; needs the permit `memory:write`. End a document from a time on, now by default; nothing is erased. */
    remove(request: DocumentsRemoveRequest, options?: WriteOptions): Promise<DocumentReportAnswer>;
    /** `memory.documents.versions`; needs the permit `memory:read`. The versions of a document as they are believed now, by the date they begin. */
    versions(request: DocumentsVersionsRequest, options?: ListOptions): Listing<DocumentVersionAnswer>;
  };
  readonly entities: {
    /** `memory.entities.add_alias`; needs the permit `memory:write`. Teach an entity a name, in one scope or tenant-wide. */
    addAlias(request: EntitiesAddAliasRequest, options?: WriteOptions): Promise<AliasViewAnswer>;
    /** `memory.entities.compare`; needs the permit `memory:read`. Return why two entities would be taken for one, or would not, line by line. Their names are scored against each other, best pair first, with the scopes, the neighbours and the attributes that they share: those that the policy registers under `resolution.vetoes`. Of a cluster all names count; two names of one cluster are told apart, so that it shows what the merge was made of. Nothing is written. */
    compare(request: EntitiesCompareRequest, options?: CallOptions): Promise<EntityComparisonAnswer>;
    /** `memory.entities.get`; needs the permit `memory:read`. Return the page of an entity; a merged-away id redirects. */
    get(request: EntitiesGetRequest, options?: CallOptions): Promise<EntityPageAnswer>;
    /** `memory.entities.list`; needs the permit `memory:read`. Return the entities whose names the caller may see, by id; merged ones once. A large register comes in pages: `limit` entities with an id above `after`, which is the `entity_id` of the last one of the page before. */
    list(request?: EntitiesListRequest, options?: ListOptions): Listing<EntityViewAnswer>;
    /** `memory.entities.merge`; needs the permit `review:decide`. Make two entities one; the order of the ids never matters, and it can be undone. */
    merge(request: EntitiesMergeRequest, options?: WriteOptions): Promise<MergeReceiptAnswer>;
    /** `memory.entities.relations`; needs the permit `memory:read`. Return (from, slot, to) of the clean relations that the caller may see, sorted. */
    relations(request?: EntitiesRelationsRequest, options?: ListOptions): Listing<Array<string>>;
    /** `memory.entities.resolve`; needs the permit `memory:read`. Return what a mention would be bound to, with every candidate's evidence. `scope` is where the mention is (tenant-wide by default), `near` are entity ids known to stand around it. Nothing is written. */
    resolve(request: EntitiesResolveRequest, options?: CallOptions): Promise<ResolutionAnswer>;
    /** `memory.entities.unmerge`; needs the permit `review:decide`. Take a merge back, however long ago; writes made since stay with their own side. */
    unmerge(request: EntitiesUnmergeRequest, options?: WriteOptions): Promise<UnmergeReceiptAnswer>;
  };
  readonly envelopes: {
    /** `memory.envelopes.get`; needs the permit `memory:read`. Return the manifest of one envelope. */
    get(request: EnvelopesGetRequest, options?: CallOptions): Promise<ManifestAnswer>;
    /** `memory.envelopes.list`; needs the permit `memory:read`. Return stored envelopes, newest first; those of other users only with a privilege. They may be narrowed to those that hold an object or an artifact, to a session or a task type, and to transaction times from `since` to before `until`. A filter other than `object_id` looks among the newest 10,000. */
    list(request?: EnvelopesListRequest, options?: ListOptions): Listing<StoredEnvelopeAnswer>;
  };
  readonly resolution: {
    /** `memory.resolution.audit`; needs the permit `review:decide`. Score every standing automatic bind with the current model, by names alone. Return those that would not bind today, the least likely first; nothing changes. Context that was known then is taken as given: a scope once shared is still shared. */
    audit(request?: ResolutionAuditRequest, options?: ListOptions): Listing<RescoredCaseAnswer>;
    /** `memory.resolution.labels`; needs the permit `review:decide`. Return what decided reviews teach: a labelled pair of names each, by age. Reviews of the band alone teach a bias; audits, which are drawn at random, are among them for that reason. */
    labels(request?: ResolutionLabelsRequest, options?: ListOptions): Listing<LabelAnswer>;
    /** `memory.resolution.xref`; needs the permit `review:decide`. Return the likeliest duplicates of the next entities among all entities. Start with `after=""` and go on with the `after` of the answer until it is empty. Of each stretch the `limit` best pairs are kept. Nothing is written. */
    xref(request?: ResolutionXrefRequest, options?: CallOptions): Promise<CrossingAnswer>;
  };
  readonly reviews: {
    /** `memory.reviews.accept`; needs the permit `review:decide`. Say that the entity is its best candidate, or `entity`; the merge can be undone. `remember`: `scope` (the name keeps meaning it there), `all` scopes, or `no`. Where the policy asks for a second steward, the first word is a proposal and the case stays open. */
    accept(request: ReviewsAcceptRequest, options?: DecideOptions): Promise<ReviewReceiptAnswer>;
    /** `memory.reviews.decide_all`; needs the permit `review:decide`. Decide the cases of a preview alike: `accept`, `reject` or `unsure`, each at its version. */
    decideAll(request: ReviewsDecideAllRequest, options?: WriteOptions): Promise<Array<ReviewReceiptAnswer>>;
    /** `memory.reviews.get`; needs the permit `memory:read`. Return the page of a case. */
    get(request: ReviewsGetRequest, options?: CallOptions): Promise<ReviewPageAnswer>;
    /** `memory.reviews.groups`; needs the permit `memory:read`. Return the open blocking cases in groups, the largest first. `by` is `mention`, `source` (the origin of the write that opened it), `scope`, `type` or `reason`. */
    groups(request?: ReviewsGroupsRequest, options?: ListOptions): Listing<CaseGroupAnswer>;
    /** `memory.reviews.list`; needs the permit `memory:read`. Return cases, the most pressing first. `status` is `open` (with undone ones, and unsure ones about which something was said since), `unsure`, `accepted`, `rejected` or `all`; `kind` is `blocking`, `possible_same_as`, `audit` or `all`. Evidence that came later counts in the scores. */
    list(request?: ReviewsListRequest, options?: ListOptions): Listing<ReviewAnswer>;
    /** `memory.reviews.matching`; needs the permit `memory:read`. Return the open blocking cases of an explicit filter: the preview of a bulk decision. */
    matching(request?: ReviewsMatchingRequest, options?: ListOptions): Listing<ReviewAnswer>;
    /** `memory.reviews.open`; needs the permit `review:decide`. Open a case about two stored entities, by their ids, for somebody to decide. Where two stewards must agree, this is how two entities become one: each accepts it. It is listed as `possible_same_as`; the younger entity is asked about. Asked again while it waits, the same case is returned. */
    open(request: ReviewsOpenRequest, options?: WriteOptions): Promise<ReviewAnswer>;
    /** `memory.reviews.progress`; needs the permit `memory:read`. Return how many cases wait since when, and how often the proposal was right. */
    progress(request?: ReviewsProgressRequest, options?: CallOptions): Promise<QueueStateAnswer>;
    /** `memory.reviews.reject`; needs the permit `review:decide`. Say that it is none of its candidates. Of namesakes: split the claims between people, by `parts` (object ids) or as they contradict each other. Of an audit: take the automatic bind back. */
    reject(request: ReviewsRejectRequest, options?: DecideOptions): Promise<ReviewReceiptAnswer>;
    /** `memory.reviews.undo`; needs the permit `review:decide`. Take the last decision back, however long ago it was. */
    undo(request: ReviewsUndoRequest, options?: DecideOptions): Promise<ReviewReceiptAnswer>;
    /** `memory.reviews.unsure`; needs the permit `review:decide`. Record that somebody looked and could not say. */
    unsure(request: ReviewsUnsureRequest, options?: DecideOptions): Promise<ReviewReceiptAnswer>;
  };
  readonly sessions: {
    /** `memory.sessions.compact`; needs the permit `memory:write`. Edit the window now, down to `to` permille of its limit, by default to its target. */
    compact(request: SessionsCompactRequest, options?: WriteOptions): Promise<WindowDecisionAnswer>;
    /** `memory.sessions.compile`; needs the permit `context:compile`. The next request, for `anthropic`, `openai`, `responses` or `gemini`. */
    compile(request: SessionsCompileRequest, options?: CallOptions): Promise<Record<string, unknown>>;
    /** `memory.sessions.list`; needs the permit `memory:read`. This caller's sessions, each with its last event, by name. */
    list(request?: SessionsListRequest, options?: ListOptions): Listing<SessionSummaryAnswer>;
    /** `memory.sessions.rehydrate`; needs the permit `memory:read`. A page of originals by address, by turn (`turn:12`), by a question or a cursor. */
    rehydrate(request: SessionsRehydrateRequest, options?: CallOptions): Promise<RehydrationAnswer>;
    /** `memory.sessions.show`; needs the permit `memory:read`. What is in the window, unit by unit, and how full it is. */
    show(request: SessionsShowRequest, options?: CallOptions): Promise<SessionViewAnswer>;
    /** `memory.sessions.undo`; needs the permit `memory:write`. Put back what an edit changed, the newest first, while the window has room. */
    undo(request: SessionsUndoRequest, options?: WriteOptions): Promise<WindowDecisionAnswer>;
  };
  readonly view: {
    /** `memory.view.entity`; needs the permit `memory:read`. Return an entity as known at the view's tx; a merged-away id redirects. */
    entity(request: ViewEntityRequest, options?: CallOptions): Promise<EntityViewAnswer>;
    /** `memory.view.facts`; needs the permit `memory:read`. Return the state of every slot of an entity that has one, by slot name. */
    facts(request: ViewFactsRequest, options?: CallOptions): Promise<Record<string, SlotStateAnswer>>;
    /** `memory.view.neighbourhood`; needs the permit `memory:read`. Return what stands around an entity, breadth first, capped by the policy. */
    neighbourhood(request: ViewNeighbourhoodRequest, options?: CallOptions): Promise<NeighbourhoodAnswer>;
    /** `memory.view.object`; needs the permit `memory:read`. Return an object as it looks at the view. */
    object(request: ViewObjectRequest, options?: CallOptions): Promise<ContextObjectAnswer>;
    /** `memory.view.search`; needs the permit `memory:read`. Return the best matching shown objects; of equal matches the newest first. */
    search(request: ViewSearchRequest, options?: CallOptions): Promise<SearchResultAnswer>;
    /** `memory.view.slot`; needs the permit `memory:read`. Return the state of a slot; `scope` reads that scope alone. */
    slot(request: ViewSlotRequest, options?: CallOptions): Promise<SlotStateAnswer>;
    /** `memory.view.timeline`; needs the permit `memory:read`. Return the whole of valid time as stretches with one answer, oldest first. */
    timeline(request: ViewTimelineRequest, options?: ListOptions): Listing<SegmentAnswer>;
    /** `memory.view.value`; needs the permit `memory:read`. Return the clean value of a slot, or the default. */
    value(request: ViewValueRequest, options?: CallOptions): Promise<unknown>;
  };
  readonly vocabulary: {
    /** `memory.vocabulary.define`; needs the permit `admin:*`. Define a task type, role, entity type or source kind; return the list's words. */
    define(request: VocabularyDefineRequest, options?: WriteOptions): Promise<Array<string>>;
    /** `memory.vocabulary.define_slot`; needs the permit `admin:*`. Define a slot, or redefine one; what is not stated is inherited. Idempotent. */
    defineSlot(request: VocabularyDefineSlotRequest, options?: WriteOptions): Promise<SlotAnswer>;
    /** `memory.vocabulary.slots`; needs the permit `memory:read`. Return the slots by name. */
    slots(request?: VocabularySlotsRequest, options?: CallOptions): Promise<Record<string, SlotAnswer>>;
    /** `memory.vocabulary.tools`; needs the permit `memory:read`. The stored tools that the caller may see, by name, the newest of a name first. */
    tools(request?: VocabularyToolsRequest, options?: ListOptions): Listing<StoredToolAnswer>;
    /** `memory.vocabulary.values`; needs the permit `memory:read`. Return the words of a list: `task_type`, `role`, `entity_type`, `source_kind`. */
    values(request: VocabularyValuesRequest, options?: ListOptions): Listing<string>;
  };
}

/** Something in the resolver queue. */
export type ActionAnswer = {
  /** The id of an action. */
  action_id: string;
  closed?: string | null;
  /** Who settled it. */
  closed_by?: string;
  /** What else is known of it. */
  detail?: Record<string, unknown>;
  /** An entity: a name or an id. */
  entity: string | null;
  /** Of which kind it is. */
  kind: ActionKindAnswer;
  /** Of a tie: the objects that tie. */
  members: Array<string>;
  /** The object it is about. */
  object_id: string;
  opened: string;
  /** How it was settled. */
  outcome?: string;
  /** A property of the entity, such as office or manager. */
  slot: string | null;
  /** The entity and slot, as the store names them. */
  slot_key: string | null;
  /** Since when it is true; null for always. */
  valid_from: string | null;
  /** Until when it is true, itself excluded; null while it is. */
  valid_until: string | null;
};

/** What waits in the resolver queue. */
export type ActionKindAnswer = "settle_tie" | "confirm_due" | "reverify_belief" | "regenerate_summary" | "review_quarantine" | "retire_approval" | "merge_conflict" | "confirm_directive";

/** How an entry of the resolver queue was closed. */
export type ActionReceiptAnswer = {
  /** The id of an action. */
  action_id: string;
  erasure?: ErasureReceiptAnswer | null;
  /** Of which kind it is. */
  kind: ActionKindAnswer;
  merge?: MergeReceiptAnswer | null;
  /** Objects written, archived or confirmed. */
  object_ids?: Array<string>;
  /** How it was settled. */
  outcome: string;
  /** The moment of knowledge: when the store learned it. */
  tx: string;
};

export type ActionsActionsRequest = {
  /** open, closed or all. */
  status?: string;
};

export type ActionsListRequest = {
  /** open, closed or all. */
  status?: string;
};

export type ActionsResolveRequest = {
  /** Let it in, instead of keeping it out. */
  accept?: boolean | null;
  /** The id of an action. */
  action_id: string;
  /** What the slot holds. */
  value?: unknown;
  /** The object that holds. */
  winner?: string | null;
};

export type ActionsUndoRequest = {
  /** The id of an action. */
  action_id: string;
};

/** How urgent an alert is. */
export type AlertLevelAnswer = "INFO" | "WARNING" | "CRITICAL";

/** A name of an entity, with who taught it. */
export type AliasViewAnswer = {
  /** The raw entity it names; a cluster has several. */
  entity: string;
  /** The transaction that taught it. */
  learned: string | null;
  /** The id of a merge. */
  merge_id: string | null;
  /** The write or operation that taught it. */
  object_id: string;
  /** Where it holds: everywhere, or for one user, project or session. */
  scope: string;
  surface: string;
};

/** An artifact as one put described it: what it is, and who may read it. */
export type ArtifactAnswer = {
  /** Who did it. */
  actor: string;
  /** The address of an original, such as artifact://…. */
  address: string;
  /** When it was said; now by default. */
  at: string;
  /** The media type, such as text/plain. */
  media_type: string;
  /** What a person calls it; may be empty. */
  name: string;
  /** Objects whose words it holds: erasing one of them erases it too. */
  object_ids?: Array<string>;
  /** Where the bytes come from, in the caller's words; may be empty. */
  origin: string;
  permissions: PermissionsAnswer;
  /** Where it holds: everywhere, or for one user, project or session. */
  scope: ScopeAnswer;
  /** Bytes. */
  size: number;
};

export type ArtifactsEraseRequest = {
  /** The address of an original, such as artifact://…. */
  address: string;
  /** Why, for the record. */
  reason: string;
};

export type ArtifactsExistsRequest = {
  /** The address of an original, such as artifact://…. */
  address: string;
};

export type ArtifactsGetRequest = {
  /** The address of an original, such as artifact://…. */
  address: string;
  /** Where it holds: everywhere, or for one user, project or session. */
  scope?: Scope | Record<string, string> | null;
};

export type ArtifactsInfoRequest = {
  /** The address of an original, such as artifact://…. */
  address: string;
  /** Where it holds: everywhere, or for one user, project or session. */
  scope?: Scope | Record<string, string> | null;
};

export type ArtifactsListRequest = {
  /** At most so many. */
  limit?: number;
};

export type ArtifactsPutRequest = {
  /** Roles that may read it, in addition to its owner. */
  allow_roles?: Array<string>;
  /** Bytes as base64, or a text. */
  data: BinaryContent | string;
  /** Roles that may not read it. */
  deny_roles?: Array<string>;
  /** The media type, such as text/plain. */
  media_type?: string | null;
  /** The name. */
  name?: string;
  /** Ids of stored objects. */
  object_ids?: Array<string>;
  /** Where it comes from. */
  origin?: string;
  /** Where it holds: everywhere, or for one user, project or session. */
  scope?: Scope | Record<string, string> | null;
  /** public, restricted, confidential or highly_restricted. */
  security_classification?: string | null;
};

export type ArtifactsTextRequest = {
  /** The address of an original, such as artifact://…. */
  address: string;
};

export type AsOfRequest = {
  /** What was known at this time, such as 2026-06-01T00:00:00Z; now by default. */
  tx?: string | null;
  /** What is true at this time, such as 2026-06-01T00:00:00Z; now by default. */
  valid?: string | null;
};

/** One thing that a question asks. */
export type AskedAnswer = {
  /** Of `cut`: a budget that shows it; 0 where none is known. */
  budget_tokens?: number;
  /** The subject as a reader may see it. */
  name?: string;
  /** Of an unknown name: known names with a similar spelling, the most similar first. */
  near_names?: Array<string>;
  /** What shows it, or would; never of what is withheld. */
  object_ids?: Array<string>;
  /** The slot, or empty for the subject as a whole. */
  slot?: string;
  /** `known`, `disputed`, `unknown`, `cut` or `withheld`. */
  state?: string;
  /** Canonical id, or the words of a name that means no known entity. */
  subject: string;
  /** Why it is not known: `no_value`, `unknown_entity`, `denied`, `over_budget` and others. */
  why?: string;
};

/** A sign of an attack that the detectors see in a text. */
export type AttackSignAnswer = {
  /** The class of attack that it points to, such as `indirect` or `smuggling`. */
  attack: string;
  /** The sign, such as `override_instructions`. */
  code: string;
  /** What was seen: counts and short quotes, never a secret. */
  detail: string;
};

/** The five authority levels; the lower number is the stronger (C-043). */
export type AuthorityAnswer = 0 | 1 | 2 | 3 | 4;

/** A stretch of known time in which the same was believed. */
export type BandAnswer = {
  /** By true time, without overlap. */
  beliefs: Array<SlotBeliefAnswer>;
  known_from: string;
  /** None: still. */
  known_until: string | null;
};

/** What a belief is, in addition to its value. */
export type BeliefStateAnswer = "clean" | "disputed" | "planned" | "denied" | "erased" | "withheld" | "lost";

/** Bytes on their way through JSON. */
export type BinaryContent = {
  base64: string;
};

/** One block of an envelope; level-4 text has no other constructor than kind `data`. */
export type BlockAnswer = {
  /** Level 0 (platform) to 4 (retrieved). */
  authority: number;
  /** What the text is to the model. */
  kind: BlockKindAnswer;
  /** The visible ids, in the order of the rows: anchors, or whatever the caller gave. */
  object_ids: Array<string>;
  /** Where the text comes from; may be empty. */
  origin: string;
  /** What shares the block, each a line; empty for a block of one text. */
  pieces?: Array<BlockPieceAnswer>;
  /** Logical section, a key of `HEADINGS`. */
  section: string;
  /** The text before escaping; of a shared block the lines of its pieces. */
  text: string;
};

/** What a model may take a block for. */
export type BlockKindAnswer = "instruction" | "data" | "dialogue";

/** One text of a block that several share. Raises: InvalidInput: `bad_envelope`, for a part that no line could hold. */
export type BlockPieceAnswer = {
  /** The visible id; an anchor leads to the object in the trace. */
  anchor: string;
  /** Where it comes from; empty: unknown. */
  origin?: string;
  /** Before escaping. */
  text: string;
  /** The day, `2023-05-08`, or the second in UTC; empty: unknown. */
  when?: string;
  /** Whoever said or wrote it, one line of at most 40 characters; empty: unknown. */
  who?: string;
};

/** One block as it is in the text. */
export type BlockSegmentAnswer = {
  block: BlockAnswer;
  /** What joins a tool call of the history to its result; empty for everything else. */
  call_id?: string;
  /** The media item that the block names, if any. */
  media_entry?: MediaEntryAnswer | null;
  /** With heading, boundary lines and final newline. */
  text: string;
  /** The name of the tool that is called. */
  tool?: string;
};

/** Kinds of work with shares of their own; each is a row of `PROFILES`. */
export type BudgetProfileAnswer = "default" | "code_review" | "research" | "support";

/** The shares of one kind of task. */
export type BudgetProfileRuleAnswer = {
  /** The name. */
  name: string;
  shares: Array<LayerShareAnswer>;
};

/** The usual shares of a window, in per cent. */
export type BudgetSharesAnswer = {
  memory_injection?: number;
  message_history?: number;
  output_reserve?: number;
  system_prompt?: number;
  tool_definitions?: number;
  tool_results?: number;
};

/** Whether a provider served the prefix from its cache (C-111). */
export type CacheHitStatusAnswer = "NONE" | "PARTIAL_HIT" | "FULL_HIT" | "UNKNOWN";

/** Whose cache rules apply. */
export type CacheProviderAnswer = "anthropic" | "openai" | "gemini" | "none";

/** How a candidate entity was found. */
export type CandidateSource = "identifier" | "exact" | "alias" | "scoped_register" | "neighbourhood" | "session" | "blocking";

/** How a candidate entity was found. */
export type CandidateSourceAnswer = "identifier" | "exact" | "alias" | "scoped_register" | "neighbourhood" | "session" | "blocking";

/** One row of the table; a field that a row does not state has the value of an unknown model. */
export type CapabilityAnswer = {
  /** Whether it generates an answer under a JSON Schema. */
  answer_schemas?: boolean;
  /** Month of the evidence, `YYYY-MM`. */
  as_of?: string;
  /** Explicit marks a request may carry; 0 when the provider takes none. */
  breakpoints?: number;
  counting?: CountingRuleAnswer;
  /** Where the row comes from. */
  evidence?: string;
  /** Step to which a cached prefix is rounded down; 1 when it is not rounded. */
  granularity_tokens?: number;
  /** Content blocks a mark looks back over; None when there is no such limit. */
  lookback_blocks?: number | null;
  /** What it reads in addition to text; of an unknown model nothing is ruled out. */
  media?: Array<ModalityAnswer>;
  /** Whether a system message may follow a user turn. */
  mid_conversation_system?: boolean;
  /** Shortest prefix that is cached, in tokens; None when there is no provider cache. */
  min_cacheable_tokens?: number | null;
  /** Shell pattern on the model's plain name, lowercase, with dashes for dots. */
  pattern?: string;
  /** Parts of the request in the order in which they form the prefix. */
  prefix_order?: Array<string>;
  provider?: CacheProviderAnswer;
  /** Price of a cached token that is read. */
  read_permille?: number;
  /** Lifetimes on offer in seconds, the default first; empty when the provider decides. */
  ttls_s?: Array<number>;
  /** Context window W in tokens, input and output together; None when unknown. */
  window?: number | null;
  /** Price of a cache write for each lifetime, or one price when there are no lifetimes. */
  write_permille?: Array<number>;
};

/** Whether two values of a slot exclude each other. */
export type CardinalityAnswer = "one" | "many";

/** Cases that share what they were grouped by. */
export type CaseGroupAnswer = {
  /** What the cases are grouped by. */
  by: string;
  /** Ids of reviews. */
  cases: number;
  /** Up to three of their names, the most pressing first. */
  mentions: Array<string>;
  /** The day the oldest of them was opened, `YYYY-MM-DD`. */
  oldest: string;
  /** What the slot holds. */
  value: string;
};

/** A change of belief between two transaction times. */
export type ChangeAnswer = {
  /** Who made it; empty when that was done with an object that the caller may not see. */
  actor?: string;
  /** An entity: a name or an id. */
  entity: string | null;
  /** `opened` or `closed`. */
  kind: string;
  /** The id of a stored object. */
  object_id: string;
  /** A property of the entity, such as office or manager. */
  slot: string | null;
  /** Whether it holds, is disputed, overridden or quarantined. */
  status: string;
  /** The moment of knowledge: when the store learned it. */
  tx: string;
  /** Since when it is true; null for always. */
  valid_from: string | null;
  /** Until when it is true, itself excluded; null while it is. */
  valid_until: string | null;
  /** What the slot holds. */
  value: unknown;
};

/** The place of a passage in a version of a document. */
export type CitationAnswer = {
  /** The name of the document: its source and path. */
  document: string;
  /** From when the version holds; None for an open start. */
  effective?: string | null;
  /** The titles above the passage, outermost first. */
  headings?: Array<string>;
  length?: number;
  /** The object that says it; one that came back has several over time. */
  object_id: string;
  /** From 1; 0 where the format has no pages. */
  page?: number;
  /** The same in every version that holds the passage. */
  passage_id: string;
  /** When the version was recorded. */
  recorded?: string | null;
  /** First character in the text that the reader made of the file. */
  start?: number;
  title: string;
  /** When the next version begins; None while none is known. */
  until?: string | null;
};

/** How an incoming claim fares against a stored one, seen from the incoming. */
export type ClaimVerdictAnswer = "wins" | "loses" | "ties" | "confirms" | "apart";

/** Security classification, rising; a reader needs a clearance at least as high (C-019). */
export type ClassificationAnswer = "public" | "restricted" | "confidential" | "highly_restricted";

export type CloseScopeRequest = {
  /** Of which kind it is. */
  kind: string;
  /** Where it holds: everywhere, or for one user, project or session. */
  scope: string;
};

/** Numbers of the compiler. */
export type CompilePolicyAnswer = {
  /** `broad`, or `strict`: match `why_it_matters` alone. */
  activation?: string;
  activation_cosine?: number;
  authority_weight?: number;
  /** Source kinds whose text is rendered as base64. */
  base64_kinds?: Array<string>;
  bm25_b?: number;
  bm25_k1?: number;
  /** Most of a compile: standing objects, slots and neighbours find room with the others. */
  candidates?: number;
  /** Models that may read commercial secrets; `generic` represents the caller's own. */
  commercial_secret_models?: Array<string>;
  /** Mu: the worth, in objects of full relevance, that a thousand tokens at the base price must bring. 0, because a budget that is granted is meant to be used (C-122). */
  cost_weight?: number;
  /** Source kinds whose text is datamarked: costs tokens, so none by default. */
  datamark_kinds?: Array<string>;
  /** 5-word-shingle containment from which two texts are duplicates. */
  duplicate_containment?: number;
  /** `coverage`, the one fill order, or `mmr`, maximal marginal relevance. */
  evidence_selection?: string;
  /** A shortened text is graded faithful from the first, lossy from the second, and below it partial: a marked part of its source. */
  fidelity_lossy?: number;
  fidelity_pass?: number;
  /** What a provider adds around roles and tools; taken off where the window is known. */
  framing_tokens?: number;
  /** Share of strength left below which an object is `below_floor`; 0: decay alone decides. */
  freshness_floor?: number;
  freshness_weight?: number;
  /** Turns at the end of the history that are never folded. */
  history_full_turns?: number;
  /** Whether a request's `hypothesis` is searched with; off, because a made-up answer finds what resembles it, also where it is wrong (C-204, C-235). */
  hyde?: boolean;
  /** How well each way of setting untrusted text apart keeps it from being obeyed, 0 to 1: of the order that Hines et al. measured on models (arXiv 2403.14720). With these an envelope alerts as soon as more than half of it is untrusted text in data blocks. */
  isolation_strengths?: Array<[string, number]>;
  /** Share of BM25 in the fused relevance; the rest is cosine. */
  lexical_weight?: number;
  /** Share of the original's worth that a stand-in must keep (C-194). */
  media_fidelity?: number;
  /** Shortest edge to which a picture is planned down: below it models read no text. */
  media_least_px?: number;
  /** Most of the budget that pictures, sound and films may take together, and the most of one table: what evidence may take of it. Above it pictures are planned smaller, tables sampled. */
  media_share?: number;
  /** Longest run of words of the query that is looked up as a mention: names are short. */
  mention_words?: number;
  /** Best texts that MMR chooses from: k; beyond it likeness of all pairs costs too much. */
  mmr_items?: number;
  /** Weight of relevance against likeness to what is chosen; the usual value (C-235). */
  mmr_relevance?: number;
  /** Entities a compile's walk visits, breadth first: two hops around a few mentions. */
  neighbour_entities?: number;
  /** Facts read around one visited entity: what a reader needs to place it, no biography. */
  neighbour_facts?: number;
  /** What becomes of a stored passage when all claims that were extracted from it have ended: `last`, behind everything that holds, `omit`, or `show` as any other. */
  outdated_passages?: string;
  overflow?: OverflowPolicyAnswer;
  /** How strict that is: `mask` shows that there is a value, `omit` not even that (C-235). */
  personal?: string;
  /** Shares that `profile=` of a compile names, over those of its sections. */
  profiles?: Array<BudgetProfileRuleAnswer>;
  /** Values of quality metrics above which it alerts; 1 for one that is not named. */
  quality_ceilings?: Array<[string, number]>;
  /** Values of quality metrics below which an envelope alerts; 0 for one that is not named. */
  quality_floors?: Array<[string, number]>;
  /** Whether other names of the entities that a request names are searched for too; off, because a name that several share brings more noise than recall (C-204). */
  query_expansion?: boolean;
  /** Words of the query in which mentions are looked for; a request is a page, not a book. */
  query_words?: number;
  /** Longest goal recap. */
  recap_tokens?: number;
  /** Below it a ranked object is `below_floor`: less than a twentieth of the best hit. */
  relevance_floor?: number;
  /** Composite of C-134: relevance leads, authority and freshness break near-ties. */
  relevance_weight?: number;
  /** Best candidates that a re-ranker is asked about: each costs it a pass over both texts. */
  rerank_items?: number;
  /** Share of its opinion in the relevance of a stored object: it reads both texts together, so it leads, and the fused score still decides among equals. */
  rerank_weight?: number;
  /** Affinity from which a subunit is rescued: next to a perfect neighbour it must hold half of the query's terms, or speak of what the neighbour or the request speaks of. */
  rescue_affinity?: number;
  /** Subunits rescued at most: a snippet helps, ten are a document. */
  rescue_keep?: number;
  /** Sources whose subunits compete for rescue, best first (bounded pool of SkillRAE). */
  rescue_pool?: number;
  /** Weights of q_rel, f_skill, r_sel, g_same, g_active: the query leads, the graph features together weigh as much as any one other (C-081). */
  rescue_weights?: Array<number>;
  reserve_floor?: number;
  /** R = max(floor, stated, share of the window) where the window is known. */
  reserve_share?: number;
  safety_critical?: boolean;
  /** Cost of one token of a section against the base price, where it is not the provider's: 1, and for the history the price of a cached read. */
  section_costs?: Array<[string, number]>;
  /** Most items of one section that are converted; more never fit an 8K budget. */
  section_items?: number;
  /** Largest share of the budget each optional section may take: caps of zones 1 to 3 look neither at the query nor at history, so that cached prefixes hold. */
  section_shares?: Array<[string, number]>;
  /** Most tokens of an optional section, whatever its share allows (C-299); none by default, because a share follows the budget and a number does not. */
  section_tokens?: Array<[string, number]>;
  section_weights?: Array<[string, number]>;
  shingle_words?: number;
  /** Roles to which personal data is shown, in addition to the user in whose scope it stands and the person it is about; `*` is everyone. For all others it is neither shown nor found by its words, in every read. */
  show_personal_to?: Array<string>;
  /** Rounds in which an assembled text that came out too long is fitted again. */
  shrink_rounds?: number;
  /** What `signals=` of a compile may state, and what each weighs. */
  signals?: Array<SignalRuleAnswer>;
  small_window?: number;
  /** Most standing objects, strongest level first: several times what any zone can hold. */
  standing_candidates?: number;
  /** Most stored tools of one compile, the oldest first: among more, models choose worse. */
  stored_tools?: number;
  /** Whether the turn's own texts vary their shape from turn to turn (C-309). */
  structural_variation?: boolean;
  /** How surely a table's form must be read: `high` (JSON), `moderate` (CSV and Markdown too), or `model_dependent` (the compact form too, which only some models were trained to read). */
  structured_accuracy?: string;
  /** Facts of a subject that is still read as a whole; of a larger one each is lifted less. */
  subject_facts?: number;
  /** Newest texts about a named entity: it has some slots, and says things for years. */
  subject_texts?: number;
  /** Most turns that are fetched because they stand next to found ones. */
  talk_candidates?: number;
  /** The same where near claims are asked for too, which bring what more of them would. */
  text_beside_vectors?: number;
  /** Text matches that a compile reads as records: each costs time; a cut is in the trace. */
  text_candidates?: number;
  /** Text matches that are ranked by columns where more than those match. */
  text_pool?: number;
  /** Composite scores from which an object is critical, important, useful: the quarters of the scale, moved down one step because fused scores crowd the lower half. */
  tier_cuts?: Array<number>;
  /** Price of a million input tokens in any currency, for the trace; 0: not stated. */
  token_price?: number;
  /** Nearest claims a compile asks for, at most those of a search. */
  vector_candidates?: number;
  /** Weakest authority level that may enter an envelope; 4 admits retrieved text. */
  weakest_level?: number;
  /** Least relevance of a preference or directive of whom the request is for: just above the floor, so that it is shown while tokens are free. */
  wish_relevance?: number;
};

export type CompileRequest = {
  /** What a good answer must meet. */
  acceptance?: Array<unknown>;
  /** The most tokens that the context may take. */
  budget_tokens?: number;
  /** Rules that the answer must keep. */
  constraints?: Array<unknown>;
  /** Entities, by name or id. */
  entities?: Array<string>;
  /** Errors that the work has met so far. */
  errors?: Array<unknown>;
  /** Texts of this request alone: data, never instructions. */
  evidence?: Array<unknown>;
  /** What the work is for. */
  goal?: string | null;
  /** The turns before this one, oldest first. */
  history?: Array<unknown>;
  /** An answer that the caller's model made up, for the search alone; it is never shown. */
  hypothesis?: string;
  /** The model that will read the context; it decides how tokens are counted. */
  model?: string;
  /** Ids of objects that must be in the context. */
  pinned?: Array<unknown>;
  /** How the budget is shared among the sections. */
  profile?: string;
  /** What is done so far: texts with names. */
  progress?: Array<unknown>;
  /** The project of the caller. */
  project?: string | null;
  /** The question that the context shall answer. */
  query?: string;
  /** The vector of the question, by the encoder of the store. */
  query_vector?: Array<number> | null;
  /** Tokens kept free for the answer. */
  reserve_tokens?: number | null;
  /** Numbers of the run by name, such as expected_tool_calls; the policy weighs them. */
  signals?: Record<string, number | string> | null;
  /** Skills that the agent has. */
  skills?: Array<unknown>;
  /** What is being done now. */
  step?: string | null;
  /** The task type, such as assistant or analytical_reporting. */
  task: string;
  /** Tools that the model may call. */
  tools?: Array<unknown>;
  /** What was known at this time, such as 2026-06-01T00:00:00Z; now by default. */
  tx?: string | null;
  /** The id of the user. */
  user?: string | null;
  /** What the user typed. */
  user_request?: string;
  /** What is true at this time, such as 2026-06-01T00:00:00Z; now by default. */
  valid?: string | null;
};

export type CompiledObjectAnswer = [string, string, number, string, number, number, string, string, string, string, string, string, number, string, string, Array<string>, Array<string>];

/** What one edit came to, over all units that it changed. */
export type CompressionResultAnswer = {
  /** Calls of a model whose answers were used; all other forms need none. */
  calls: number;
  /** Tokens of what stands for them. */
  compressed: number;
  /** Permille of their facts that still stand, weighed by what each change freed. */
  fidelity: number;
  /** Tokens of the changed units before. */
  original: number;
  /** The form that freed most. */
  strategy: StandingFormAnswer;
};

/** One object with its whole tenure, as a view shows it. */
export type ContextObjectAnswer = {
  /** Other names. */
  aliases?: Array<string>;
  /** Task types in which it matters; empty is all. */
  applicable_task_types: Array<string>;
  /** 0 is the system, 1 a developer, 2 the user, 3 an agent, 4 a stranger. */
  authority_level: AuthorityAnswer;
  /** What an agent should do because of it. */
  behavioral_implication?: string | null;
  canonical_entity_ids: Array<string>;
  confidence_score: number;
  /** The sentence as it was said. */
  content: string | null;
  contradiction_status: StatusAnswer;
  /** How fast it loses weight. */
  decay_rule?: Record<string, number> | null;
  /** Ids of the objects that it was made of. */
  derived_from?: Array<string>;
  /** Identifiers of the entity, by scheme, such as hr or email. */
  external_ids?: Record<string, string>;
  last_confirmed?: string | null;
  last_used?: string | null;
  normalized_claim: string;
  /** The id of a stored object. */
  object_id: string;
  /** The type of the object, such as identity_fact or preference. */
  object_type: ObjectTypeAnswer;
  permission_scope: Record<string, Array<string>>;
  /** What was stated as start: a month, a year, or nothing and an instant. */
  precision?: string;
  /** The project that it belongs to. */
  project_id?: string | null;
  /** When it leaves the store. */
  retirement_rule?: RetirementRuleAnswer | null;
  /** public, restricted, confidential or highly_restricted. */
  security_classification: ClassificationAnswer;
  /** How personal it is. */
  sensitivity?: Array<SensitivityAnswer>;
  /** The session that it belongs to. */
  session_id?: string | null;
  /** A property of the entity, such as office or manager. */
  slot?: string | null;
  /** How much the source's word weighs. */
  source_authority: number;
  /** What kind of source said it. */
  source_kind: string;
  /** The address of the source, such as mail://…. */
  source_origin: string;
  state_layer: StateLayerAnswer;
  status_reason?: string;
  supersession_link?: string | null;
  /** The tenant that it belongs to. */
  tenant_id: string;
  /** When the store ceased to believe it; null while it does. */
  tx_end?: string | null;
  /** When the store learned it. */
  tx_start: string;
  /** How it may be changed. */
  update_path?: string | null;
  /** The user that it belongs to. */
  user_id?: string | null;
  /** Since when it is true; null for always. */
  valid_from: string | null;
  /** Until when it is true, itself excluded; null while it is. */
  valid_until?: string | null;
  /** What the slot holds. */
  value?: unknown;
  /** Why it was kept. */
  why_it_matters: string;
};

/** What was done to the text of a compiled object. */
export type ConversionAnswer = "pointer" | "summarized" | "truncated" | "externalized" | "folded" | "table_row" | "masked";

/** How tokens of a model are counted or estimated (`counting`). */
export type CountingRuleAnswer = "o200k" | "claude_to_4_6" | "claude_from_4_7" | "gemini" | "maximum";

/** What a stretch of the register brought. */
export type CrossingAnswer = {
  /** Where the next stretch starts; empty when the register has been crossed to its end. */
  after: string;
  /** Pairs whose names were compared. */
  comparisons: number;
  /** Entities of this stretch. */
  entities: number;
  /** Names of theirs that were looked up. */
  names: number;
  /** The best pairs, those whose merge would settle most first. */
  pairs: Array<DuplicatePairAnswer>;
};

/** The curve between full strength and none. */
export type DecayKindAnswer = "half_life" | "step" | "sigmoid";

/** Along which curve what an object type holds fades (C-157 to C-159). */
export type DecayPolicyAnswer = {
  /** (object type, `half_life`, `step` or `sigmoid`); a type that is not named fades by halves. */
  kinds?: Array<Array<string>>;
  /** Of a sigmoid: with 10, 88 % are left at 0.8 half-lives and 12 % at 1.2. */
  steepness?: number;
  /** Strength behind a step: below the threshold of every object type, so that it retires. */
  step_left?: number;
};

/** How fast the strength of an object falls; along which curve, the policy says. */
export type DecayRule = {
  half_life_days: number;
  minimum_threshold: number;
};

/** How fast the strength of an object falls; along which curve, the policy says. */
export type DecayRuleAnswer = {
  /** Days until the strength halves, or falls at once where it falls by a step; above 0. */
  half_life_days: number;
  /** Strength below which the object is due, 0 to 1. */
  minimum_threshold: number;
};

/** What resolution decides for one mention (C-049). */
export type DecisionAnswer = "bind" | "review" | "new";

/** From when on detectors quarantined what one channel brings. */
export type DetectorLimitAnswer = {
  channel: string;
  /** Characters above which a text counts as dilution. */
  length: number;
  /** Sum of severities, each code counted once, from which a text is quarantined. */
  score: number;
};

export type DiffRequest = {
  /** An entity: a name or an id. */
  entity?: string | EntityRef | Record<string, unknown> | null;
  /** After this moment of knowledge. */
  tx1: string | null;
  /** Up to and with this moment of knowledge. */
  tx2: string | null;
};

export type DoctorRequest = Record<string, unknown>;

/** A version of a document with its passages in order. */
export type DocumentAnswer = {
  passages: Array<DocumentPassageAnswer>;
  /** Headings and passages joined as the reader of the file gave them. */
  text: string;
  view: DocumentViewAnswer;
};

/** Two versions of a document side by side. */
export type DocumentComparisonAnswer = {
  added: Array<DocumentPassageAnswer>;
  /** As they stand in the second version. */
  moved: Array<DocumentPassageAnswer>;
  removed: Array<DocumentPassageAnswer>;
  same: number;
};

/** A passage as a version holds it. */
export type DocumentPassageAnswer = {
  citation: CitationAnswer;
  /** `[erased]` where an erasure emptied it, `[withheld]` where this caller may not see it. */
  text: string;
};

/** Something about a file that was not taken, and where. */
export type DocumentProblemAnswer = {
  code: string;
  message: string;
  page?: number;
};

/** What a put did. */
export type DocumentReportAnswer = {
  /** Claims that were found in new passages. */
  claims?: number;
  /** Claims of an extractor that no write takes, as for a value that its slot cannot hold. */
  claims_refused?: number;
  closed?: number;
  /** Where that date is from: `stated`, `front_matter`, `text`, `message` or `recorded`. */
  dated?: string;
  /** Entity id; empty for what was refused. */
  document?: string;
  /** Words that the reader left out, by reason. */
  dropped?: Record<string, number> | null;
  /** From when the version holds. */
  effective?: string | null;
  /** Passages in quarantine, because they look like injected instructions. */
  flagged?: number;
  /** The name that a renamed document had. */
  former?: string;
  kept?: number;
  /** Secrets that were replaced by a mark. */
  masked?: number;
  moved?: number;
  /** The name. */
  name: string;
  opened?: number;
  /** `new`, `changed`, `corrected`, `same`, `renamed`, `reclassified`, `removed`, `observed` or `refused`. */
  outcome: string;
  problems?: Array<DocumentProblemAnswer>;
  title?: string;
  warnings?: Array<string>;
};

/** A version in the history of a document. */
export type DocumentVersionAnswer = {
  closed: number;
  dated: string;
  /** From when a document is in force; its own date by default, else now. */
  effective: string | null;
  /** Passages that it has in common with the version before it. */
  kept: number;
  moved: number;
  opened: number;
  passages: number;
  recorded: string;
  title: string;
  /** Not after this moment. */
  until: string | null;
};

/** A document in a list. */
export type DocumentViewAnswer = {
  /** Keyed digest of the file: equal exactly for equal bytes of one tenant. */
  bytes_digest: string;
  /** From when a document is in force; its own date by default, else now. */
  effective: string | null;
  flagged?: number;
  id: string;
  /** The media type, such as text/plain. */
  media_type: string;
  /** The name. */
  name: string;
  passages: number;
  recorded: string;
  title: string;
};

export type DocumentsCiteRequest = {
  /** Ids of stored objects. */
  object_ids: Array<string>;
  /** What was known at this time, such as 2026-06-01T00:00:00Z; now by default. */
  tx?: string | null;
  /** What is true at this time, such as 2026-06-01T00:00:00Z; now by default. */
  valid?: string | null;
};

export type DocumentsCompareRequest = {
  /** The first date. */
  a: string | null;
  /** The second date. */
  b: string | null;
  /** The source and path of a document, such as handbook/leave.md. */
  name: string;
  /** What was known at this time, such as 2026-06-01T00:00:00Z; now by default. */
  tx?: string | null;
};

export type DocumentsGetRequest = {
  /** The source and path of a document, such as handbook/leave.md. */
  name: string;
  /** What was known at this time, such as 2026-06-01T00:00:00Z; now by default. */
  tx?: string | null;
  /** What is true at this time, such as 2026-06-01T00:00:00Z; now by default. */
  valid?: string | null;
};

export type DocumentsListRequest = {
  /** The name of a source of documents. */
  source?: string | null;
  /** What was known at this time, such as 2026-06-01T00:00:00Z; now by default. */
  tx?: string | null;
  /** What is true at this time, such as 2026-06-01T00:00:00Z; now by default. */
  valid?: string | null;
};

export type DocumentsPutRequest = {
  /** Take in a file whose text a detector flags; its passages are quarantined. */
  accept_flagged?: boolean;
  /** Take in bytes that were erased before. */
  again?: boolean;
  /** Roles that may read it, in addition to its owner. */
  allow_roles?: Array<string>;
  /** 0 is the system, 1 a developer, 2 the user, 3 an agent, 4 a stranger. */
  authority_level?: number | null;
  /** Say what would happen; write nothing. */
  check?: boolean;
  /** What finds claims in new passages: rules or model; none by default. */
  claims?: string;
  /** Bytes as base64, or a text. */
  data: BinaryContent | string;
  /** day or month: which one comes first in the dates of a chat. */
  dates?: string | null;
  /** Roles that may not read it. */
  deny_roles?: Array<string>;
  /** From when a document is in force; its own date by default, else now. */
  effective?: string | null;
  /** The encoding of a text file; found by its bytes by default. */
  encoding?: string | null;
  /** Names of documents of which this may be one under a new name. */
  former?: Array<string>;
  /** Let its readers become those of all versions that are stored. */
  governs?: boolean;
  /** Keep the file as an artifact. */
  keep_original?: boolean;
  /** The media type, such as text/plain. */
  media_type?: string | null;
  /** The source and path of a document, such as handbook/leave.md. */
  name: string;
  /** The author of a chat who is the caller. */
  own?: string | null;
  /** The password that opens the file; it is not stored. */
  password?: string | null;
  /** Where it holds: everywhere, or for one user, project or session. */
  scope?: Scope | Record<string, string> | null;
  /** public, restricted, confidential or highly_restricted. */
  security_classification?: string | null;
  /** The name of a source of documents. */
  source?: string;
  /** Task types in which its passages matter; empty is all. */
  task_types?: Array<string>;
  /** The address that the file came from. */
  url?: string | null;
  /** The time zone of the times of a chat, such as Europe/Berlin. */
  zone?: string | null;
};

export type DocumentsReclassifyRequest = {
  /** Roles that may read it, in addition to its owner. */
  allow_roles?: Array<string> | null;
  /** Roles that may not read it. */
  deny_roles?: Array<string> | null;
  /** The source and path of a document, such as handbook/leave.md. */
  name: string;
  /** public, restricted, confidential or highly_restricted. */
  security_classification?: string | null;
};

export type DocumentsRemoveRequest = {
  /** From when a document is in force; its own date by default, else now. */
  effective?: string | null;
  /** The source and path of a document, such as handbook/leave.md. */
  name: string;
};

export type DocumentsVersionsRequest = {
  /** The source and path of a document, such as handbook/leave.md. */
  name: string;
};

/** Two entities that may be one. */
export type DuplicatePairAnswer = {
  comparison: EntityComparisonAnswer;
  /** Facts that a merge would bring together with partners: those of the smaller entity. */
  settles: number;
};

/** How a hard constraint is enforced (C-039). */
export type EnforcementAnswer = "schema" | "grammar" | "pattern" | "tool_policy" | "stated";

export type EnforcementRuleAnswer = [EnforcementAnswer, string];

export type EntitiesAddAliasRequest = {
  /** Another name of the entity. */
  alias: string;
  /** An entity: a name or an id. */
  entity: string;
  /** Where it holds: everywhere, or for one user, project or session. */
  scope?: Scope | Record<string, string> | null;
};

export type EntitiesCompareRequest = {
  /** The first of two entities: a name or an id. */
  a: string | EntityRef | Record<string, unknown>;
  /** The second of two entities: a name or an id. */
  b: string | EntityRef | Record<string, unknown>;
};

export type EntitiesGetRequest = {
  /** An entity: a name or an id. */
  entity: string | EntityRef | Record<string, unknown>;
};

export type EntitiesListRequest = {
  /** Begin behind this id; the last one of the page before. */
  after?: string;
  /** At most so many. */
  limit?: number | null;
  /** The type of the entity, such as person or organization. */
  type?: string | null;
};

export type EntitiesMergeRequest = {
  /** The first of two entities: a name or an id. */
  a: string;
  /** The second of two entities: a name or an id. */
  b: string;
  /** Why, for the record. */
  reason?: string;
};

export type EntitiesRelationsRequest = Record<string, unknown>;

export type EntitiesResolveRequest = {
  /** A name as it is written in a text. */
  mention: string | EntityRef | Record<string, unknown>;
  /** Ids of entities that are known to be near the mention. */
  near?: Array<string>;
  /** Where it holds: everywhere, or for one user, project or session. */
  scope?: Scope | Record<string, string> | null;
  /** The type of the entity, such as person or organization. */
  type?: string | null;
};

export type EntitiesUnmergeRequest = {
  /** The id of a merge. */
  merge_id: string;
  /** Why, for the record. */
  reason?: string;
};

/** An entity a mention may mean, with the evidence for it. */
export type EntityCandidate = {
  /** An entity: a name or an id. */
  entity: string;
  features?: Array<Feature>;
  log_odds: number;
  /** The name. */
  name: string;
  /** How well it fits; higher is better. */
  score: number;
  /** The source that it came from. */
  source: CandidateSource;
  /** What speaks against it, whatever the score. */
  vetoes?: Array<string>;
};

/** An entity a mention may mean, with the evidence for it. */
export type EntityCandidateAnswer = {
  /** Canonical id. */
  entity: string;
  features?: Array<FeatureAnswer>;
  log_odds: number;
  /** The name. */
  name: string;
  /** Calibrated probability, rounded to 1e-6. */
  score: number;
  /** The source that it came from. */
  source: CandidateSourceAnswer;
  /** What speaks against it, whatever the score. */
  vetoes?: Array<string>;
};

/** Two entities, scored as if one were a new mention of the other. */
export type EntityComparisonAnswer = {
  /** Whether they stand as one entity already. */
  are_one: boolean;
  /** Score from which their type binds. */
  bind_at: number;
  /** The right one as a candidate for the left: score, evidence, vetoes. */
  candidate: EntityCandidateAnswer;
  /** What the bands would say of the score alone. */
  decision: DecisionAnswer;
  left: EntityViewAnswer;
  /** The name of each that fits the other best. */
  names: Array<string>;
  /** Score above which their type comes to a person. */
  review_above: number;
  right: EntityViewAnswer;
  /** Log-odds before any evidence: what the model starts from. */
  start: number;
  /** What would bind them that is not there: what lifts a veto, evidence that weighs enough. */
  tips: Array<string>;
};

/** Everything a program or a steward may want to know of one entity. */
export type EntityPageAnswer = {
  /** Other names. */
  aliases: Array<AliasViewAnswer>;
  /** An entity: a name or an id. */
  entity: EntityViewAnswer;
  /** What holds of it, by slot. */
  facts: Record<string, SlotStateAnswer>;
  /** What happened to its identity, oldest first: (transaction time, sentence). */
  history: Array<[string | null, string]>;
  /** Every verdict about it that the caller may see, those taken back included, oldest first. */
  judgements: Array<JudgementViewAnswer>;
  neighbours: NeighbourhoodAnswer;
};

/** How a caller names an entity: a name with type, aliases and identifiers. */
export type EntityRef = {
  /** Other names. */
  aliases?: Array<string>;
  /** Identifiers of the entity, by scheme, such as hr or email. */
  external_ids?: Record<string, string>;
  id?: string;
  /** The name. */
  name: string;
  /** The type of the entity, such as person or organization. */
  type?: string;
};

/** An entity as known at (valid, tx). */
export type EntityViewAnswer = {
  /** Other names. */
  aliases: Array<string>;
  /** Canonical id. */
  entity_id: string;
  /** One identifier a scheme, the oldest. */
  external_ids: Record<string, string>;
  /** Every (scheme, value), by scheme, the oldest first: of e-mail addresses, phones, handles and domains there may be several. */
  identifiers?: Array<Array<string>>;
  /** Ids of the objects that it is about. */
  members: Array<string>;
  /** The name. */
  name: string;
  /** The merged-away id that was asked for. */
  redirected_from?: string | null;
  /** The state it is in. */
  state: string;
  /** The type of the entity, such as person or organization. */
  type: string;
};

/** An envelope with its trace and figures. */
export type EnvelopeRecordAnswer = {
  asked: Array<AskedAnswer>;
  cache_key: string;
  capability: CapabilityAnswer;
  citations: Record<string, CitationAnswer>;
  /** Rules that the answer must keep. */
  constraints: Array<HardConstraintAnswer>;
  /** The SHA-256 of the bytes. */
  digest: string;
  /** The id of a compiled envelope. */
  envelope_id: string;
  gaps: Array<GapAnswer>;
  manifest: ManifestAnswer;
  /** The model that will read the context; it decides how tokens are counted. */
  model: string;
  quality: QualityAnswer;
  sections: Array<SectionUseAnswer>;
  segments: Array<BlockSegmentAnswer>;
  sidecar: Record<string, unknown>;
  /** The text, verbatim. */
  text: string;
  /** Tokens, as the model counts them. */
  tokens: number;
  tokens_upper: number;
  trace: TraceAnswer;
  unmatched: Array<string>;
};

export type EnvelopesGetRequest = {
  /** The id of a compiled envelope. */
  envelope_id: string;
};

export type EnvelopesListRequest = {
  /** At most so many. */
  limit?: number;
  /** The id of a stored object. */
  object_id?: string | null;
  /** The id of a session. */
  session?: string | null;
  /** Not before this moment. */
  since?: string | null;
  /** The task type, such as assistant or analytical_reporting. */
  task?: string | null;
  /** Not after this moment. */
  until?: string | null;
};

export type EraseRequest = {
  /** The name of a document, such as handbook/leave.md. */
  document?: string | null;
  /** An entity: a name or an id. */
  entity?: string | EntityRef | Record<string, unknown> | null;
  /** The id of a stored object. */
  object_id?: string | null;
  /** Why, for the record. */
  reason: string;
};

export type EraseSessionRequest = {
  /** The name. */
  name: string;
  /** Why, for the record. */
  reason: string;
  /** The id of the user. */
  user?: string | null;
};

/** An envelope that an erasure emptied, and who had received it. */
export type ErasedEnvelopeAnswer = {
  /** The id of a compiled envelope. */
  envelope_id: string;
  /** The erased objects that it held, sorted; none where only its request named the entity. */
  object_ids?: Array<string>;
  /** The project of the caller. */
  project?: string | null;
  /** The id of a session. */
  session?: string | null;
  /** The task type, such as assistant or analytical_reporting. */
  task?: string;
  /** Tokens, as the model counts them. */
  tokens?: number;
  /** The moment of knowledge: when the store learned it. */
  tx?: string | null;
  /** None also where the user is who was erased. */
  user?: string | null;
  /** The moment in the world for which it is asked. */
  valid?: string | null;
};

/** What an erasure emptied, and what it left; ids only. */
export type ErasureReceiptAnswer = {
  /** What waits for a decision because of it. */
  actions?: Array<string>;
  /** Who did it. */
  actor: string;
  /** Artifacts that held their words and were erased with them, sorted. */
  artifacts?: Array<string>;
  /** Ids of entities. */
  entity_ids?: Array<string>;
  /** Envelopes that held an object of it, or whose request named it, and were emptied, sorted. */
  envelopes?: Array<string>;
  erasure_id: string;
  /** Objects that say the same, or name the entity, on their own behalf and stay, sorted. */
  independent?: Array<string>;
  /** Every object that was emptied, sorted: the ones asked for and what repeated them. */
  object_ids: Array<string>;
  /** Artifacts they were taken from, which stay until `memory.artifacts.erase`, sorted. */
  originals?: Array<string>;
  /** Why, for the record. */
  reason: string;
  /** Who had received each of these envelopes, by envelope id. */
  recipients?: Array<ErasedEnvelopeAnswer>;
  replayed?: boolean;
  /** Sessions whose texts named the entity and were emptied, or name it in a single word and wait for a person to look, sorted. */
  sessions?: Array<string>;
  /** Derived objects that stay and are flagged stale, sorted. */
  stale?: Array<string>;
  /** The moment of knowledge: when the store learned it. */
  tx: string;
};

/** By which score units leave first; each is a row of `keep.SCORES`. */
export type EvictionPolicyAnswer = "fifo" | "lru" | "priority" | "semantic_merge" | "type_based" | "hybrid" | "relevance_cost" | "turn_factors";

export type ExplainRequest = {
  /** The id of a stored object. */
  object_id: string;
};

/** Where an object comes from, what it met, and what was compiled from it. */
export type ExplanationAnswer = {
  confirmations: Array<LinkAnswer>;
  /** Claims that contradict it. */
  conflicts: Array<LinkAnswer>;
  /** What was derived from it. */
  derived: Array<LinkAnswer>;
  envelopes?: Array<string>;
  /** The names inside its text, in order. */
  mentions?: Array<MentionViewAnswer>;
  object: ContextObjectAnswer;
  /** Why it is quarantined, as long as it is. */
  quarantine?: QuarantineAnswer | null;
  rows: Array<HistoryRowAnswer>;
  /** What it was derived from. */
  sources: Array<LinkAnswer>;
  /** What this object displaced or hides. */
  superseded: Array<LinkAnswer>;
  superseded_by: Array<LinkAnswer>;
  /** The relations of its receipt. */
  verdicts: Array<Record<string, unknown>>;
};

/** One line of evidence. */
export type Feature = {
  /** What else is known of it. */
  detail: string;
  /** The name. */
  name: string;
  /** How well it fits; higher is better. */
  score: number;
  weight: number;
};

/** One line of evidence. */
export type FeatureAnswer = {
  /** What else is known of it. */
  detail: string;
  /** The name. */
  name: string;
  /** How well it fits; higher is better. */
  score: number;
  /** Log-odds, in nats. */
  weight: number;
};

export type GapAnswer = [GapCodeAnswer, string, string];

/** What the envelope should have held and does not. */
export type GapCodeAnswer = "no_value" | "disputed_value" | "unknown_entity" | "ambiguous_entity" | "user_unstated" | "evidence_needed" | "retrieval_pending" | "acceptance_missing" | "erased";

/** A rule of an envelope that code can check on the answer. */
export type HardConstraintAnswer = {
  /** Whether a rule is checked by a program. */
  enforcement: EnforcementRuleAnswer;
  /** The id of a stored object. */
  object_id: string;
  /** The text, verbatim. */
  text: string;
};

export type HistoryRequest = {
  /** An entity: a name or an id. */
  entity: string | EntityRef | Record<string, unknown>;
  /** A property of the entity, such as office or manager. */
  slot: string;
};

/** A version row on both axes. */
export type HistoryRowAnswer = {
  /** Who made this version; empty when that was done with an object the caller may not see. */
  actor?: string;
  /** 0 is the system, 1 a developer, 2 the user, 3 an agent, 4 a stranger. */
  authority_level: number;
  erased?: boolean;
  head: boolean;
  /** The id of a stored object. */
  object_id: string;
  /** What the claim does: assert, correct, deny, end or confirm. */
  op: string;
  /** `year` or `month` where `valid_from` is the first instant of one that was stated. */
  precision?: string;
  /** Why, for the record. */
  reason: string;
  /** Where it holds: everywhere, or for one user, project or session. */
  scope: string;
  /** The address of the source, such as mail://…. */
  source_origin: string;
  /** Whether it holds, is disputed, overridden or quarantined. */
  status: string;
  /** When the store ceased to believe it; null while it does. */
  tx_end: string | null;
  /** When the store learned it. */
  tx_start: string;
  /** Since when it is true; null for always. */
  valid_from: string | null;
  /** Until when it is true, itself excluded; null while it is. */
  valid_until: string | null;
  /** What the slot holds. */
  value: unknown;
  vid: number;
};

/** What accepting would do, as a rehearsal of the decision told it. */
export type ImpactAnswer = {
  /** The slots that would answer otherwise, with what they say before and after. */
  changes?: Array<SlotChangeAnswer>;
  /** Names of the neighbours that both have, sorted. */
  common?: Array<string>;
  /** `slot: one / other` where values would dispute each other that do not today. */
  conflicts: Array<string>;
  /** Raw ids of the cluster after it. */
  members: number;
  /** Objects that would be about the candidate's entity. */
  moves: number;
  /** Slots that would answer otherwise, now or at another time. */
  slots: Array<string>;
  /** Judgements across the two sides that say they differ, with who said so. */
  standing?: Array<string>;
  /** The id that would survive. */
  surviving: string;
};

/** What an import did. */
export type IngestReportAnswer = {
  /** What waits for a decision because of it. */
  actions: number;
  /** Of a check, which writes nothing: the lines it looked at; None of an import. */
  checked?: number | null;
  definitions: number;
  /** Events written now. */
  events: number;
  /** How many receipts had which outcome. */
  outcomes: Record<string, number>;
  /** How many lines were refused. */
  refused?: number;
  /** The refused lines; of a check the first hundred. */
  rejected: Array<RefusedLineAnswer>;
  rejects_file: string | null;
  reviews: number;
  seconds: number;
  /** Events that were stored before: a replay, or an idempotency key, met again. */
  skipped: number;
  /** Groups of a replay that were stored before. */
  skipped_groups: number;
  /** What reading the texts of talk took; None where there was none. */
  talk?: TalkTotalsAnswer | null;
  /** Transactions written now; in a replay, groups. */
  transactions: number;
  /** How many receipts had which warning. */
  warnings?: Record<string, number>;
  /** What corrections took back along with what they correct; the first hundred. */
  withdrew?: Array<string>;
};

/** What happens to text that a detector suspects. */
export type InjectionPolicyAnswer = "quarantine" | "reject";

/** A half-open, non-empty span `[start_us, end_us)` of microseconds UTC. */
export type IntervalAnswer = {
  /** First instant after; `INF_US` when open. */
  end_us: number;
  /** First instant inside; `MIN_US` when open. */
  start_us: number;
};

/** A verdict about two raw entities, and what it rested on. */
export type JudgementViewAnswer = {
  /** Who did it. */
  actor: string;
  /** Texts of this request alone: data, never instructions. */
  evidence: Record<string, unknown>;
  judged_by: string;
  judgement_id: string;
  left: string;
  /** The name of the raw entity, as the caller may see it. */
  left_name: string;
  /** The id of a merge. */
  merge_id: string | null;
  /** Why, for the record. */
  reason: string;
  right: string;
  right_name: string;
  /** How well it fits; higher is better. */
  score: number | null;
  /** Not before this moment. */
  since: string | null;
  /** When it was taken back; None while it stands. */
  until: string | null;
  verdict: string;
};

export type LabelAnswer = Array<string>;

/** The least and the most of the budget that a layer takes. */
export type LayerShareAnswer = {
  ceiling: number;
  floor: number;
  /** The state layer it lives in, such as user, project or session. */
  layer: string;
};

/** An edge between claims as `explain` shows it. */
export type LinkAnswer = {
  /** Of which kind it is. */
  kind: string;
  /** The id of a merge. */
  merge_id?: string | null;
  /** The claim at the other end. */
  object_id: string;
  /** Why, for the record. */
  reason: string;
  relation: string;
  /** The moment of knowledge: when the store learned it. */
  tx: string;
  /** Since when it is true; null for always. */
  valid_from: string | null;
  /** Until when it is true, itself excluded; null while it is. */
  valid_until: string | null;
};

export type LintFindingAnswer = Array<string>;

/** One transaction as the log tells it: who did what, and when. */
export type LogEntryAnswer = {
  /** Who did it. */
  actor: string;
  /** The objects that it brought or changed, of those that the caller may see. */
  objects: Array<string>;
  /** `write`, `replay`, or the name of an operation such as `merge`. */
  op: string;
  /** What it was about, with names, in order; only what the caller may see. */
  sentences: Array<string>;
  /** The moment of knowledge: when the store learned it. */
  tx: string;
};

export type LogRequest = {
  /** An entity: a name or an id. */
  entity?: string | EntityRef | Record<string, unknown> | null;
  /** At most so many. */
  limit?: number;
  /** After this moment of knowledge. */
  since?: string | null;
  /** Up to and with this moment of knowledge. */
  until?: string | null;
};

/** The pinned inputs of one envelope. */
export type ManifestAnswer = {
  artifact_uris: Array<string>;
  /** What came into question, best first. */
  candidates: Array<RecordedRowAnswer>;
  capped: Array<string>;
  /** Stored objects and request items in the envelope, in the order of the text. */
  compiled: Array<string>;
  compiler_version: string;
  counter: string;
  cut: boolean;
  /** SHA-256 of the text. */
  digest: string;
  encoder_id: string | null;
  /** The id of a compiled envelope. */
  envelope_id: string;
  /** Other names of the named entities that were searched for, sorted. */
  expansion: Array<string>;
  /** (entity, slot, facts with the entity as their value) where not all were read, sorted. */
  hubs: Array<[string, string, number]>;
  key_epoch: number;
  /** Digest of the words by which questions ask. */
  language: string;
  /** Tokens of each section of the text, in the order of the names. */
  layer_budgets: Array<[string, number]>;
  /** The model that will read the context; it decides how tokens are counted. */
  model: string;
  /** The request's entities: (mention, canonical ids, pending). */
  named: Array<[string, Array<string>, boolean]>;
  own: Array<Array<string>>;
  page: number;
  policy_hash: string;
  /** Canonical JSON. */
  principal: string;
  /** Canonical JSON. */
  request: string;
  reranker_id: string | null;
  /** HMAC of all the other fields by the tenant's key of the epoch, in hexadecimal digits; the store adds it. */
  signature?: string;
  /** Objects that earlier pages have shown, sorted. */
  skip: Array<string>;
  spoken: Array<[string, Array<string>, boolean]>;
  terms_version: number;
  truncation_events: Array<TruncationEventAnswer>;
  tx_us: number;
  /** False when a step was asked for without acceptance. */
  valid: boolean;
  valid_us: number;
  vocabulary_version: number;
  window: number | null;
  /** How much this caller may not see. */
  withheld: Array<[string, number]>;
  /** (canonical subject, slot) that were asked and of which something is hidden. */
  withheld_slots: Array<Array<string>>;
  /** Objects and sections that an ablation left out, sorted. */
  without: Array<string>;
};

/** A picture, recording, film or table; the envelope's text names and describes it. */
export type MediaAnswer = {
  /** Of a table too large to go in whole: the columns whose count, sum, least, most and mean stand for the rows; empty: all columns of numbers. */
  aggregates?: Array<string>;
  /** How far the task needs what no text tells (layout, tone, who speaks), 0 to 1: what a stand-in that states no worth of its own loses. */
  beyond_text?: number;
  /** Of a table: the columns that the task needs, in order; empty: all. */
  columns?: Array<string>;
  /** What it says, for people. */
  description?: string;
  /** Of a table: the column by whose values the aggregates are divided; empty: one group. */
  group_by?: string;
  /** Pixels. */
  height?: number;
  /** Of which kind it is. */
  kind: MediaKindAnswer;
  /** Where it comes from. */
  origin?: string;
  /** Of a table: a canonical JSON list of objects. */
  records?: string;
  /** Of a picture: the parts that the task needs; it is cropped to them. Empty: the whole. */
  regions?: Array<Array<number>>;
  seconds?: number;
  /** Of a recording or film: what may be sent alone where the whole takes too much. */
  segments?: Array<MediaSegmentAnswer>;
  /** Texts that may replace it where they cost less and keep enough of its worth. */
  stand_ins?: Array<StandInAnswer>;
  /** Where the original is; a table may have none. */
  uri?: string;
  /** Worth of the original for the task, 0 to 1; None: 1. */
  utility?: number | null;
  /** Of a table: the rows that the task needs are those that pass every test; empty: all. */
  where?: Array<RowFilterAnswer>;
  /** Pixels. */
  width?: number;
};

/** How one media item enters the envelope. */
export type MediaEntryAnswer = {
  /** Of a table: how its records are written. */
  form?: string;
  /** Of a film: how many frames are taken from it; 0 when none is left out. */
  frames?: number;
  /** What is sent with the text, or the text that replaces it; a table's tokens are its text's. */
  item: MediaItemAnswer;
  media: MediaAnswer;
  /** What was left out. */
  note?: string;
  /** The cross-modal link of a stand-in to its original. */
  reference?: string;
  /** The part of a picture to cut out, before it is resized. */
  region?: Array<number> | null;
  saved_tokens?: number;
  /** Of a recording or film: what is sent of it; empty: all. */
  segments?: Array<MediaSegmentAnswer>;
  /** Width and height to resize a picture or film to; None when its size stays. */
  size?: Array<number> | null;
  /** What is in the evidence section, before containment. */
  text: string;
};

/** One item of evidence in any modality, or a stand-in for one. */
export type MediaItemAnswer = {
  id: string;
  /** How it was made: `ocr`, `transcript`, `crop`, … */
  method?: string;
  modality: ModalityAnswer;
  /** Tokens, as the model counts them. */
  tokens: number;
  /** Worth for the task at hand. */
  utility_permille: number;
};

/** What a media item holds. */
export type MediaKindAnswer = "image" | "audio" | "video" | "structured";

/** A stretch of a recording or film that can be sent without the rest (C-193). */
export type MediaSegmentAnswer = {
  /** Seconds; after the start. */
  end: number;
  /** Seconds from the beginning. */
  start: number;
  /** What is said or seen in it. */
  text?: string;
  /** Worth for the task, 0 to 1; None: by the words that its text shares with the request. */
  utility?: number | null;
};

/** A span of text that may name an entity. */
export type MentionAnswer = {
  /** The one alias this is, when a known alias matched and only one carries the surface. */
  alias_id: string | null;
  /** 0..1: how sure the finder is that this is a name at all. */
  confidence: number;
  /** One past the last character. */
  end: number;
  /** The source that it came from. */
  source: MentionSourceAnswer;
  /** First character, counted in the original text. */
  start: number;
  /** The text between them. */
  surface: string;
  /** An entity type, or `unknown`. */
  type_hint: string;
};

/** Who found a mention; the smaller number wins an overlap. */
export type MentionSourceAnswer = 0 | 1 | 2 | 3;

/** A name inside a text, and whom it means. */
export type MentionViewAnswer = {
  /** One past the last character. */
  end: number;
  /** Canonical id. */
  entity: string;
  /** First character in the text. */
  start: number;
  /** The name as it is there; empty once the text was erased. */
  surface: string;
};

export type MentionsRequest = {
  /** The text, verbatim. */
  text: string;
};

/** What a merge did. */
export type MergeReceiptAnswer = {
  /** Ties that the merge opened. */
  actions?: Array<string>;
  /** Pairs that alone hold two groups together; look at them twice. */
  bridges?: Array<Array<string>>;
  /** The id that survives. */
  canonical_id: string;
  /** Raw ids of the cluster, sorted. */
  members: Array<string>;
  /** The id of a merge. */
  merge_id: string;
  /** `canonical id/slot/scope` of every slot that became one, sorted. */
  replanned_slots: Array<string>;
  /** The two were one already, or this is a retry. */
  replayed?: boolean;
  /** The moment of knowledge: when the store learned it. */
  tx: string;
  /** Relations between the two, in sentences: merged, somebody is their own manager. */
  warnings?: Array<string>;
  /** Whether some of its members, slots, ties or bridges may not be seen by the caller. */
  withheld?: boolean;
};

export type MetricTargetAnswer = [number, number, boolean];

/** What an item is made of. */
export type ModalityAnswer = "text" | "image" | "audio" | "video" | "structured";

/** What stands around an entity, nearest first. */
export type NeighbourhoodAnswer = {
  /** (from entity, slot, to entity). */
  edges: Array<Array<string>>;
  /** Entities, by name or id. */
  entities: Array<EntityViewAnswer>;
  /** What holds of it, by slot. */
  facts: Array<ContextObjectAnswer>;
  /** Whether a cap of the policy cut the walk. */
  truncated: boolean;
  /** Whether something around it may not be seen by the caller. */
  withheld?: boolean;
};

/** What a context object is (C-015). */
export type ObjectTypeAnswer = "preference" | "identity_fact" | "project_decision" | "retrieved_passage" | "policy_rule" | "tool_schema" | "inferred_belief" | "actionable_constraint";

export type ObserveRequest = {
  /** Task types in which it matters; empty is all. */
  applicable_task_types?: Array<string>;
  /** When it was said; now by default. */
  at?: string | null;
  /** How fast it loses weight. */
  decay_rule?: Record<string, number> | null;
  /** The state layer it lives in, such as user, project or session. */
  layer?: string;
  /** Names in the text: first character, one past the last, and the entity. */
  mentions?: Array<[number, number, string | EntityRef | Record<string, unknown>]>;
  /** The address of the source, such as mail://…. */
  source_origin?: string;
  /** Who says the text. */
  speaker?: string | EntityRef | Record<string, unknown> | null;
  /** The text, verbatim. */
  text: string | Array<Record<string, unknown>>;
  /** Why it was kept. */
  why_it_matters?: string | null;
};

export type OmittedObjectAnswer = [string, string, string, string, string, number | null];

/** What a pointer represents, whole. */
export type OriginalAnswer = {
  /** Bytes as base64, or a text. */
  data: Uint8Array;
  /** The media type, such as text/plain. */
  media_type: string;
  /** Where it comes from. */
  origin: string;
  /** The address of an artifact, or the id of a stored object or of an item of a request. */
  pointer: string;
};

/** What became of a write; when several apply the earliest of the list is reported. */
export type OutcomeAnswer = "quarantined" | "refused" | "pending_review" | "disputed" | "overridden" | "clipped" | "confirmed" | "accepted";

/** What happens when content does not fit (C-139). */
export type OverflowPolicyAnswer = "truncate_lowest" | "cascade_compress" | "defer_retrieval" | "fail_loud" | "paginate";

/** Who may see an object, today. */
export type PermissionsAnswer = {
  /** Roles, sorted; `*` for everyone; never empty. */
  allow?: Array<string>;
  classification?: ClassificationAnswer;
  /** Roles, sorted; wins over `allow`. */
  deny?: Array<string>;
};

export type PointInTimeAnswer = Array<string | null>;

/** The whole pack. */
export type PolicyAnswer = {
  compile?: CompilePolicyAnswer;
  decay?: DecayPolicyAnswer;
  read?: ReadPolicyAnswer;
  resolution?: ResolutionPolicyAnswer;
  /** Of sessions that state none. Not part of the digest: it has one of its own, which the log of a session and its envelopes name, and decides nothing about any other envelope. */
  window?: WindowPolicyAnswer;
  write?: WritePolicyAnswer;
};

export type PolicyRequest = Record<string, unknown>;

/** What the first part of a conflict key is made of. */
export type PrecedenceAnswer = "authority" | "source_rank";

/** One reading of a window. */
export type PressureAnswer = {
  /** L: tokens that a request may take. */
  limit: number;
  /** Whether the window is so full, or fills so fast, that the next turn needs a new one. */
  rollover: boolean;
  /** Who counted: our counter alone (`own`), or with the provider's reports (`provider`). */
  source?: string;
  /** Whether the last turn grew more than three times as much as turns do on average. */
  spike: boolean;
  /** Tokens, as the model counts them. */
  tokens: number;
  /** None while nothing grows. */
  turns_until_red: number | null;
  /** Permille of L. */
  utilisation: number;
  /** Mean growth a turn over the last five, in tokens; negative after an edit. */
  velocity: number;
  velocity_class: VelocityClassAnswer;
  zone: ZoneAnswer;
};

/** RFC 9457 problem details. */
export type Problem = {
  /** Stable; docs/errors.md has them all. */
  code: string;
  /** What a program acts on: field, shortfall in tokens, refused lines. */
  data?: Record<string, unknown>;
  detail: string;
  errors?: Array<Record<string, unknown>>;
  /** The class of our error. */
  kind?: string;
  status: number;
  title: string;
  trace_id: string;
  type: string;
};

export type PromoteRequest = {
  /** The id of a stored object. */
  object_id: string;
  /** Where it holds: everywhere, or for one user, project or session. */
  scope: Scope | Record<string, string>;
};

export type ProvenanceAnswer = [string, string, string, number, number | null, number, string, Array<string>, string];

export type QualityAnswer = [Record<string, number>, Array<string>, boolean, Record<string, MetricTargetAnswer>];

/** Why an object is quarantined, and what to do about it. */
export type QuarantineAnswer = {
  /** The entry of the resolver queue that asks what becomes of it. */
  action_id: string;
  /** `injection_suspected` or `policy_hold`. */
  reason: string;
  /** What to do, in a sentence. */
  remedy: string;
  /** What the detectors see in its texts today, phrases first. Empty where they see nothing: a name that came with it was suspected, the rules have changed since, or they are masked. */
  signs: Array<AttackSignAnswer>;
};

export type QuarantinedObjectAnswer = Array<string>;

/** How far the stewards are. */
export type QueueStateAnswer = {
  /** Share of the decided cases in which the proposed candidate was right; None before any. */
  agreement: number | null;
  decided: number;
  /** The day the oldest waiting case was opened, `YYYY-MM-DD`. */
  oldest: string | null;
  waiting: number;
};

/** Caps of reading. */
export type ReadPolicyAnswer = {
  neighbourhood_entities?: number;
  /** Facts read around one entity of a walk; the next is around how many entities it reads. */
  neighbourhood_fanout?: number;
  /** Non-deciding rows of a slot that reach the trace. */
  slot_extras?: number;
  /** Visible text matches up to which both stores propose the same. */
  text_candidates?: number;
  /** Nearest claims a search proposes; as many as fill an 8K budget several times over. */
  vector_candidates?: number;
  /** Claims of the caller's scopes up to which vectors are searched exactly. */
  vector_exact_rows?: number;
};

/** What a write did. */
export type ReceiptAnswer = {
  /** What waits for a decision because of it. */
  actions?: Array<string>;
  /** A sentence for a person; empty when the outcome says all. */
  detail?: string;
  /** Say what would happen; change nothing. */
  dry_run?: boolean;
  /** Canonical id of the subject. */
  entity?: string | null;
  /** Version rows opened by this write. */
  inserted?: number;
  /** The id of a stored object. */
  object_id: string;
  /** How it was settled. */
  outcome: OutcomeAnswer;
  relations?: Array<RelationMetAnswer>;
  /** A retry: this is the first receipt. */
  replayed?: boolean;
  resolution?: ResolutionAnswer | null;
  reviews?: Array<string>;
  /** Objects that lost ground to this write, in order of meeting. */
  superseded?: Array<string>;
  /** The stamp; of a dry run the stamp it would have had at the earliest. */
  tx: string;
  warnings?: Array<string>;
};

/** What a change of permissions did. */
export type ReclassifyReceiptAnswer = {
  /** The id of a stored object. */
  object_id: string;
  permissions: PermissionsAnswer;
  /** Derived objects that had to follow, sorted. */
  tightened?: Array<string>;
  /** The moment of knowledge: when the store learned it. */
  tx: string;
};

export type ReclassifyRequest = {
  /** Roles that may read it, in addition to its owner. */
  allow_roles?: Array<string> | null;
  /** Roles that may not read it. */
  deny_roles?: Array<string> | null;
  /** The id of a stored object. */
  object_id: string;
  /** public, restricted, confidential or highly_restricted. */
  security_classification?: string | null;
};

export type RecordedRowAnswer = [string, number, number, number, number, number | null, number | null, string, number | null, string];

/** One belief over the bands in which nothing of it changed. */
export type RectangleAnswer = {
  belief: SlotBeliefAnswer;
  known_from: string;
  known_until: string | null;
};

/** A line that was not taken. */
export type RefusedLineAnswer = {
  code: string;
  /** The field that the refusal is about, where it is about one. */
  field?: string;
  line: number;
  /** What is wrong, and what to do about it. */
  reason: string;
  /** The line as it stood; empty when it held a secret. */
  text: string;
};

export type RehydrateRequest = {
  /** The envelope that left it out. */
  envelope?: string | null;
  /** The pointer of an omission, as the envelope shows it. */
  pointer: string;
};

/** Originals as text, and where to read on. */
export type RehydrationAnswer = {
  /** What to ask for next, None at the end. */
  cursor: string | null;
  /** The units on this page. */
  numbers: Array<number>;
  /** It ends with the cursor where there is more. */
  text: string;
};

/** A stored claim that the write met. */
export type RelationMetAnswer = {
  /** Where the two meet. */
  interval: IntervalAnswer;
  /** The id of a stored object. */
  object_id: string;
  /** Why, for the record. */
  reason: string;
  /** Allen relation, "stored *relation* incoming". */
  relation: string;
  /** Seen from the incoming claim. */
  verdict: ClaimVerdictAnswer;
};

export type ReplayImportRequest = {
  /** Events with the time at which each was recorded. */
  events: Array<Record<string, unknown>>;
};

export type ReplayRequest = {
  /** The id of an envelope, or its manifest as JSON. */
  manifest: string | Record<string, unknown>;
};

/** An automatic bind that the current model doubts. */
export type RescoredCaseAnswer = {
  left: string;
  /** The id of a merge. */
  merge_id: string;
  /** The model that made it. */
  model_version: string;
  names: Array<string>;
  now: number;
  right: string;
  /** What speaks against it, whatever the score. */
  vetoes: Array<string>;
  /** The score it was bound with. */
  was: number | null;
};

/** What was decided for one mention, and why. */
export type ResolutionAnswer = {
  /** What came into question, best first. */
  candidates?: Array<EntityCandidateAnswer>;
  /** What is decided about all of them. */
  decision: DecisionAnswer;
  /** The raw entity id bound or created; None for an unknown entity of a dry look-up. */
  entity: string | null;
  model_version?: string;
  /** `same_identifier`, `exact`, `alias`, `scored`, `ambiguous`, `namesakes`, `no_candidate`, … A new entity with the reason `possible_same_as` leaves a suggestion. */
  reason: string;
  /** How well it fits; higher is better. */
  score: number;
};

export type ResolutionAuditRequest = Record<string, unknown>;

export type ResolutionLabelsRequest = Record<string, unknown>;

/** Bands and options of entity resolution (C-049). */
export type ResolutionPolicyAnswer = {
  /** (slot or identifier scheme, kind of its comparator): what is compared in addition to names when two stored entities are. Kinds: `birth_date`, `email`, `phone`, `handle`, `domain`, `place`, `identifier`. An identifier scheme that is here as an e-mail, phone, handle, domain or place has any number of values; any other scheme gives an entity one, and excludes another. */
  attributes?: Array<Array<string>>;
  /** Random share of automatic decisions that enters the queue for calibration. */
  audit_share?: number;
  bind_at?: number;
  /** Known people of one family name from which a name that is near to one of them, and has no context, waits for nobody: the next of that name is most likely somebody else. */
  common_family_name?: number;
  max_candidates?: number;
  /** Members of one cluster; a merge beyond it is refused (abuse case 23). */
  max_cluster?: number;
  /** Whether a steward may decide what that steward wrote (abuse case 27); the owner may. */
  own_reviews?: boolean;
  /** `tenant` or `project`: what counts as context for an exactly equal person name. */
  person_context_scope?: string;
  review_above?: number;
  /** Whether a second steward must agree before two entities become one; the owner need not. */
  second_steward?: boolean;
  /** Waiting cases of one writer and origin from which its doubtful names are refused (abuse case 24): more than stewards decide in a day at one every twenty seconds. */
  source_backlog?: number;
  suggest_from?: number;
  /** Types with bands of their own, such as systems that never bind by a score. */
  types?: Array<TypeBandsAnswer>;
};

export type ResolutionXrefRequest = {
  /** Begin behind this id; the last one of the page before. */
  after?: string;
  /** Entities, by name or id. */
  entities?: number;
  /** At most so many. */
  limit?: number;
  /** The type of the entity, such as person or organization. */
  type?: string | null;
};

/** A mention and what it means; its `entity` is None where it names nothing known. */
export type ResolvedMentionAnswer = {
  /** A name as it is written in a text. */
  mention: MentionAnswer;
  resolution: ResolutionAnswer;
};

/** What the sweep does with an object whose strength fell below its threshold (C-031). */
export type RetirementRuleAnswer = "archive" | "hard_delete" | "demote_to_archival" | "trigger_user_confirmation";

/** A case that waits for a person: is this pending entity one of the candidates? */
export type Review = {
  /** What came into question, best first. */
  candidates: Array<EntityCandidate>;
  /** Who decided it. */
  decided_by?: string | null;
  /** The entity that was chosen. */
  decided_entity?: string | null;
  /** The stamp of the decision. */
  decided_tx?: number | null;
  /** The id of an entity. */
  entity_id: string;
  /** A name as it is written in a text. */
  mention: string;
  /** The id of a merge. */
  merge_id?: string | null;
  note?: string;
  /** The id of a stored object. */
  object_id: string;
  /** The stamp at which it was opened. */
  opened_tx: number;
  /** Why, for the record. */
  reason: string;
  /** The id of a review. */
  review_id: string;
  /** The scope as text: tenant, or its ids in a fixed order. */
  scope_id: string;
  /** The state it is in. */
  state?: ReviewState;
  /** The type of the entity, such as person or organization. */
  type: string;
  /** The version of the case that was seen; another one is refused. */
  version?: number;
};

/** A case that waits for a person: is this pending entity one of the candidates? */
export type ReviewAnswer = {
  /** What came into question, best first. */
  candidates: Array<EntityCandidateAnswer>;
  /** Who decided it. */
  decided_by?: string | null;
  /** The entity that was chosen. */
  decided_entity?: string | null;
  /** The stamp of the decision. */
  decided_tx?: number | null;
  /** The pending raw entity. */
  entity_id: string;
  /** A name as it is written in a text. */
  mention: string;
  /** The id of a merge. */
  merge_id?: string | null;
  note?: string;
  /** The write that opened it. */
  object_id: string;
  /** The stamp at which it was opened. */
  opened_tx: number;
  /** Why, for the record. */
  reason: string;
  /** The id of a review. */
  review_id: string;
  /** The scope as text: tenant, or its ids in a fixed order. */
  scope_id: string;
  /** The state it is in. */
  state?: ReviewStateAnswer;
  /** The type of the entity, such as person or organization. */
  type: string;
  /** Rises with every decision; a decision on an older one is `stale_version`. */
  version?: number;
};

/** What a slot would answer in a stretch of valid time. */
export type ReviewBeliefAnswer = {
  disputed: boolean;
  /** The id of a stored object. */
  object_id: string;
  /** Since when it is true; null for always. */
  valid_from: string | null;
  /** Until when it is true, itself excluded; null while it is. */
  valid_until: string | null;
  /** As one reads it: an entity by its name. */
  value: string;
};

/** One case with what a person needs to decide it. */
export type ReviewPageAnswer = {
  /** Score from which its type binds. */
  bind_at: number;
  /** What came into question, best first. */
  candidates: Array<EntityViewAnswer>;
  /** An entity: a name or an id. */
  entity: EntityViewAnswer;
  /** Of namesakes: the claims of each story, by object id. */
  groups: Array<Array<string>>;
  /** Of accepting the best candidate; None where there is none. */
  impact: ImpactAnswer | null;
  priority: number;
  review: ReviewAnswer;
  /** Score above which its type comes to a person. */
  review_above: number;
  /** Texts that named it, newest first: origin, day, the name in brackets. */
  snippets: Array<string>;
  /** What would have bound it: evidence that is absent. */
  tips?: Array<string>;
  /** Why it was not bound, in sentences. */
  vetoes: Array<string>;
  /** Lines of the best candidate: weight, comparison, both raw values. */
  waterfall: Array<string>;
};

/** What a decision of a review did. */
export type ReviewReceiptAnswer = {
  /** The id under which the pending entity is known now. */
  canonical_id: string;
  merge?: MergeReceiptAnswer | null;
  /** The case in its new version. */
  review: ReviewAnswer;
  /** The moment of knowledge: when the store learned it. */
  tx: string;
  unmerge?: UnmergeReceiptAnswer | null;
};

/** The state of a review case. */
export type ReviewState = "open" | "accepted" | "rejected" | "unsure" | "undone";

/** The state of a review case. */
export type ReviewStateAnswer = "open" | "accepted" | "rejected" | "unsure" | "undone";

export type ReviewsAcceptRequest = {
  /** An entity: a name or an id. */
  entity?: string | null;
  /** Why, for the record. */
  reason?: string;
  /** Keep the name as an alias: in its scope, in all of them, or no. */
  remember?: string;
  /** The id of a review. */
  review_id: string;
  /** The version of the case that was seen; another one is refused. */
  version?: number | null;
};

export type ReviewsDecideAllRequest = {
  /** Ids of reviews. */
  cases: Array<Review>;
  /** What is decided about all of them. */
  decision: string;
  /** Why, for the record. */
  reason?: string;
};

export type ReviewsGetRequest = {
  /** The id of a review. */
  review_id: string;
};

export type ReviewsGroupsRequest = {
  /** mention, source, scope, type or reason. */
  by?: string;
};

export type ReviewsListRequest = {
  /** blocking, possible_same_as, audit or all. */
  kind?: string;
  /** open, unsure, accepted, rejected or all. */
  status?: string;
};

export type ReviewsMatchingRequest = {
  /** A name as it is written in a text. */
  mention?: string | null;
  /** Where it holds: everywhere, or for one user, project or session. */
  scope?: string | null;
  /** The source that it came from. */
  source?: string | null;
  /** The type of the entity, such as person or organization. */
  type?: string | null;
};

export type ReviewsOpenRequest = {
  /** The first of two entities: a name or an id. */
  a: string;
  /** The second of two entities: a name or an id. */
  b: string;
  /** Why, for the record. */
  reason?: string;
};

export type ReviewsProgressRequest = Record<string, unknown>;

export type ReviewsRejectRequest = {
  /** Entities that a rejected case keeps apart. */
  parts?: Array<Array<string>>;
  /** Why, for the record. */
  reason?: string;
  /** The id of a review. */
  review_id: string;
  /** The version of the case that was seen; another one is refused. */
  version?: number | null;
};

export type ReviewsUndoRequest = {
  /** Why, for the record. */
  reason?: string;
  /** The id of a review. */
  review_id: string;
  /** The version of the case that was seen; another one is refused. */
  version?: number | null;
};

export type ReviewsUnsureRequest = {
  /** Why, for the record. */
  reason?: string;
  /** The id of a review. */
  review_id: string;
  /** The version of the case that was seen; another one is refused. */
  version?: number | null;
};

/** What the rows of a table must fulfil to matter for the task (C-193). */
export type RowFilterAnswer = {
  column: string;
  test?: RowTestAnswer;
  /** Canonical JSON. */
  value?: string;
};

/** How a row filter compares. */
export type RowTestAnswer = "equals" | "not_equals" | "at_least" | "at_most" | "contains";

/** The ids that isolate an object inside its tenant; None does not isolate. */
export type Scope = {
  /** The project of the caller. */
  project?: string | null;
  /** The id of a session. */
  session?: string | null;
  /** The id of the user. */
  user?: string | null;
};

/** The ids that isolate an object inside its tenant; None does not isolate. */
export type ScopeAnswer = {
  /** The project of the caller. */
  project?: string | null;
  /** The id of a session. */
  session?: string | null;
  /** The id of the user. */
  user?: string | null;
};

/** A found object with its score. */
export type SearchHitAnswer = {
  object: ContextObjectAnswer;
  /** How well it fits; higher is better. */
  score: number;
};

/** What a search found; it is read, counted and tested like the hits themselves. */
export type SearchResultAnswer = {
  hits: Array<SearchHitAnswer>;
  truncated?: boolean;
  /** Whether something that matches may not be seen; only an auditor is told, since anybody else could guess words until it turned true. */
  withheld?: boolean;
};

/** What one section of the text takes. */
export type SectionUseAnswer = {
  /** What the allocator gave it; None when nothing was scarce. */
  allocated: number | null;
  blocks: number;
  /** The name. */
  name: string;
  objects: number;
  stability: StabilityAnswer;
  /** Of its part of the text, heading and frames included. */
  tokens: number;
};

/** A stretch of valid time with one answer. */
export type SegmentAnswer = {
  /** The state it is in. */
  state: SlotStateAnswer;
  /** Since when it is true; null for always. */
  valid_from: string | null;
  /** Until when it is true, itself excluded; null while it is. */
  valid_until: string | null;
};

/** Labels in addition to the classification. */
export type SensitivityAnswer = "personal" | "special_personal" | "financial" | "credential" | "legal_privileged" | "commercial_secret";

export type SessionSummaryAnswer = [string, number, number];

/** What is in the window of a session. */
export type SessionViewAnswer = {
  closed: boolean;
  pressure: PressureAnswer;
  seq: number;
  /** The id of a session. */
  session: string;
  turn: number;
  units: Array<UnitViewAnswer>;
};

export type SessionsCompactRequest = {
  /** What the window stays close to. */
  focus?: string;
  /** The address of a unit that stays as it is. */
  keep?: Array<string>;
  /** The name of a session. */
  name: string;
  /** Tokens that the window may take afterwards. */
  to?: number | null;
};

export type SessionsCompileRequest = {
  /** The name of a session. */
  name: string;
  /** The question that the context shall answer. */
  query?: string | null;
  /** The form of the answer, such as anthropic or openai. */
  target?: string;
};

export type SessionsListRequest = Record<string, unknown>;

export type SessionsRehydrateRequest = {
  /** The name of a session. */
  name: string;
  /** An address, turn:N, a cursor, or a question. */
  request: string;
};

export type SessionsShowRequest = {
  /** The name of a session. */
  name: string;
};

export type SessionsUndoRequest = {
  /** The number of an edit of the window. */
  edit: number;
  /** The name of a session. */
  name: string;
};

/** How one signal of a request is read. */
export type SignalRuleAnswer = {
  /** Whether a small value is the strong one, as an age in days. */
  falling?: boolean;
  /** At or above this value the signal is at its end of the scale. */
  full: number;
  /** Whose weight it scales. */
  layer: string;
  /** The name. */
  name: string;
  /** How much of a weight of 1 it can add; the base weight is 1. */
  weight?: number;
};

/** The definition of a slot. */
export type SlotAnswer = {
  /** Task types in which it matters; empty is all. */
  applicable_task_types?: Array<string>;
  /** Whether a slot holds one value or many. */
  cardinality?: CardinalityAnswer;
  /** Whether the value never changes: a second one is a conflict, whatever start is stated. */
  constant?: boolean;
  /** How fast it loses weight. */
  decay_rule?: DecayRuleAnswer | null;
  /** What it says, for people. */
  description: string;
  /** Templates by task type, `*` for any; `{value}` and `{slot}` placeholders. */
  instruction?: Array<Array<string>>;
  /** Of which kind it is. */
  kind?: SlotKindAnswer;
  /** Whether its values limit what may be answered to a person: an allergy, a diet. */
  limits?: boolean;
  /** The name. */
  name: string;
  /** Which source wins in this slot. */
  precedence?: PrecedenceAnswer;
  /** When it leaves the store. */
  retirement_rule?: RetirementRuleAnswer | null;
  /** How personal it is. */
  sensitivity?: Array<SensitivityAnswer>;
  /** Entity types a subject may have; empty for any. */
  subject_types?: Array<string>;
  /** Other words by which a question asks for it; of two words or more, all must be in it. */
  synonyms?: Array<string>;
  /** The type of a slot's values. */
  value_type?: ValueTypeAnswer;
  /** Of a relation: entity types its value may have; empty for any. */
  value_types?: Array<string>;
  /** The relevance condition an object inherits; None: the description. */
  why_it_matters?: string | null;
};

/** What was held to be true over a stretch of true time. */
export type SlotBeliefAnswer = {
  /** Who entered it; empty where that may not be told. */
  actor?: string;
  /** When the deciding claim was entered. */
  entry_time?: string | null;
  /** The claims that decide it. */
  object_ids?: Array<string>;
  /** Where the deciding claim comes from, as an origin. */
  source?: string;
  /** The state it is in. */
  state: BeliefStateAnswer;
  /** Since when it is true; null for always. */
  valid_from: string | null;
  /** Until when it is true, itself excluded; null while it is. */
  valid_until: string | null;
  /** For people; empty where there is none to show. */
  value: string;
};

/** A claim that takes part in deciding a slot at one instant. */
export type SlotCandidateAnswer = {
  /** 0 is the system, 1 a developer, 2 the user, 3 an agent, 4 a stranger. */
  authority_level: number;
  /** The id of a stored object. */
  object_id: string;
  /** What the claim does: assert, correct, deny, end or confirm. */
  op: string;
  /** Why, for the record. */
  reason: string;
  /** The address of the source, such as mail://…. */
  source_origin: string;
  /** Whether it holds, is disputed, overridden or quarantined. */
  status: string;
  /** The moment of knowledge: when the store learned it. */
  tx: string;
  /** Since when it is true; null for always. */
  valid_from: string | null;
  /** Until when it is true, itself excluded; null while it is. */
  valid_until: string | null;
  /** What the slot holds. */
  value: unknown;
};

/** A slot that answers otherwise after a decision, over the whole of valid time. */
export type SlotChangeAnswer = {
  /** Begin behind this id; the last one of the page before. */
  after: Array<ReviewBeliefAnswer>;
  /** Of both entities. */
  before: Array<ReviewBeliefAnswer>;
  /** Where it holds: everywhere, or for one user, project or session. */
  scope: string;
  /** A property of the entity, such as office or manager. */
  slot: string;
};

/** The role of a slot; templates, decay and neighbourhood walks use it. */
export type SlotKindAnswer = "attribute" | "state" | "measurement" | "identifier" | "contact" | "preference" | "directive" | "decision" | "belief" | "hierarchy" | "membership" | "ownership" | "dependency" | "authorship" | "location" | "association" | "structure";

/** The answer of a slot at (valid, tx). */
export type SlotStateAnswer = {
  /** The deciding heads. */
  candidates?: Array<SlotCandidateAnswer>;
  /** Of an ambiguous entity: the canonical ids it may mean. */
  entities?: Array<string>;
  /** The object that is shown, when exactly one is. */
  object?: ContextObjectAnswer | null;
  /** Whether the view lies inside of that year or month, so that the value may not hold yet. */
  possibly?: boolean;
  /** `year` or `month` where `valid_from` is the first instant of one that was stated. */
  precision?: string;
  /** Why unknown: `no_value`, `unknown_entity`, `ambiguous_entity`, `withheld`. */
  reason?: string;
  /** Whether it holds, is disputed, overridden or quarantined. */
  status: SlotStatusAnswer;
  /** Since when it is true; null for always. */
  valid_from?: string | null;
  /** Until when it is true, itself excluded; null while it is. */
  valid_until?: string | null;
  /** The clean value; None otherwise. */
  value?: unknown;
  /** All shown values, in order of first tx, then object id. */
  values?: Array<unknown>;
};

/** The state of a slot at one point of both axes. */
export type SlotStatusAnswer = "clean" | "disputed" | "denied" | "unknown" | "erased";

/** How long the bytes of a block stay the same; the first four are cache zones 1 to 4. */
export type StabilityAnswer = "static" | "scope" | "session" | "history" | "turn";

/** A text that may take the place of a media item (C-194). */
export type StandInAnswer = {
  /** Of the extraction, 0 to 1; None: 1. */
  confidence?: number | null;
  /** How it was made: `ocr`, `transcript`, `caption`, … */
  method?: string;
  /** The text, verbatim. */
  text: string;
  /** Worth for the task, 0 to 1; None: what the method usually keeps of the original's. */
  utility?: number | null;
};

/** In which form a unit is kept. */
export type StandingFormAnswer = "full" | "short" | "summary" | "ledger";

/** The nine state layers (C-003); their profiles are in `layers`. */
export type StateLayerAnswer = "session" | "task" | "project" | "user" | "tenant" | "corpus" | "tool" | "policy" | "belief";

/** The contradiction status of a version row (C-027). */
export type StatusAnswer = "clean" | "disputed" | "overridden" | "quarantined" | "erased";

/** An envelope as the list shows it; of an erased one the id alone. */
export type StoredEnvelopeAnswer = {
  /** The SHA-256 of the bytes. */
  digest?: string;
  /** The id of a compiled envelope. */
  envelope_id: string;
  erased?: boolean;
  manifest?: ManifestAnswer | null;
  objects?: number;
  /** The project of the caller. */
  project?: string | null;
  /** The question that the context shall answer. */
  query?: string;
  /** Whether this version can replay it; one of an earlier compiler is listed and no more. */
  replayable?: boolean;
  /** The id of a session. */
  session?: string | null;
  /** The task type, such as assistant or analytical_reporting. */
  task?: string;
  /** Tokens, as the model counts them. */
  tokens?: number;
  /** The transaction time it was compiled at. */
  tx?: string | null;
  /** The id of the user. */
  user?: string | null;
  /** The instant it is true at; None for an open end. */
  valid?: string | null;
};

/** A tool as it is in the store. */
export type StoredToolAnswer = {
  /** SHA-256 of the manifest: equal for tools that are the same. */
  digest: string;
  /** Empty for a text that is no manifest. */
  name: string;
  /** The id of a stored object. */
  object_id: string;
  /** Where it is offered, such as `tenant` or `project=nova`. */
  scope: string;
  /** Whether this store vouches for it as it stands; other tools are data. */
  signed: boolean;
  /** The tasks it is offered for; without any it is offered only when it is pinned. */
  task_types: Array<string>;
  /** The version of the case that was seen; another one is refused. */
  version: string;
};

/** What one batch of a sweep did, object ids in order of their rows. */
export type SweepReceiptAnswer = {
  /** Archived, and waiting for somebody who may erase. */
  approvals?: Array<string>;
  archived?: Array<string>;
  /** Objects for which a confirmation was asked. */
  asked?: Array<string>;
  demoted?: Array<string>;
  /** Say what would happen; change nothing. */
  dry_run?: boolean;
  erased?: Array<string>;
  examined: number;
  /** Whether due objects are left for a next batch. */
  remaining?: boolean;
  /** The stamp; of a batch with nothing to do the last one, None for an empty tenant. */
  tx: string | null;
};

export type SweepRequest = {
  /** Say what would happen; change nothing. */
  dry_run?: boolean;
  /** At most so many. */
  limit?: number;
};

/** What reading the texts of an import took. */
export type TalkTotalsAnswer = {
  /** Texts whose answer was kept. */
  cache_hits?: number;
  /** In the currency of the fields prices; None where no price is known. */
  cost?: number | null;
  /** Texts that a model was asked about. */
  model_reads?: number;
  /** Claims that were proposed and not taken. */
  refused_claims?: number;
  /** Texts that rules read because the model failed. */
  rule_reads?: number;
  /** Texts stored now; those stored before are among the skipped events. */
  texts?: number;
  tokens_in?: number;
  tokens_out?: number;
};

export type TextChangeAnswer = [string, ConversionAnswer, string];

export type TextLineAnswer = Array<string>;

/** Beliefs with a marked point, as text for a terminal and as SVG for pages and notebooks. */
export type TimePlaneAnswer = {
  bands: Array<BandAnswer>;
  /** An entity: a name or an id. */
  entity: string;
  known: string;
  lost_claims?: Array<RectangleAnswer>;
  /** A property of the entity, such as office or manager. */
  slot: string;
  /** The moment in the world for which it is asked. */
  valid: string;
};

/** What a compile decided. */
export type TraceAnswer = {
  active_task: string;
  /** Quality metrics outside the targets of the policy; `envelope.quality` has their values. */
  alerts: Array<string>;
  budget: Record<string, unknown>;
  cache_hit_status?: CacheHitStatusAnswer;
  cache_metadata: Record<string, unknown>;
  cached_tokens_read?: number;
  compiled_objects: Array<CompiledObjectAnswer>;
  conversions: Array<TextChangeAnswer>;
  counter: string;
  downstream_retries_triggered?: number;
  gaps: Array<GapAnswer>;
  key_epoch: number;
  /** Contradictions between the rules and the payload. */
  lint?: Array<LintFindingAnswer>;
  metrics: Record<string, number>;
  omitted_objects: Array<OmittedObjectAnswer>;
  /** The project that it belongs to. */
  project_id: string | null;
  prompt_tokens: number;
  /** Of everything that was found, stored or brought. */
  provenance: Array<ProvenanceAnswer>;
  quarantined_objects: Array<QuarantinedObjectAnswer>;
  request_id: string;
  retrieval_metadata: Record<string, unknown>;
  /** The session that it belongs to. */
  session_id: string | null;
  /** The tenant that it belongs to. */
  tenant_id: string;
  /** The envelope id: the same inputs have the same trace. */
  trace_id: string;
  /** The user that it belongs to. */
  user_id: string | null;
  validation_status: ValidationStatusAnswer;
  /** Shape of each varied element; empty when nothing varies. */
  variation?: Record<string, number>;
  /** How many objects the caller may not see, by where they were met. */
  withheld: Record<string, number>;
  /** Their names, for an auditor; empty for everyone else. */
  withheld_objects: Array<OmittedObjectAnswer>;
};

export type TruncationEventAnswer = [string, string, Array<string>];

/** The bands of one entity type; what is not stated is that of all. */
export type TypeBandsAnswer = {
  bind_at?: number | null;
  review_above?: number | null;
  suggest_from?: number | null;
  /** The type of the entity, such as person or organization. */
  type: string;
};

/** One unit in another form. */
export type UnitChangeAnswer = {
  /** Permille of the facts that are still in the window. */
  fidelity?: number;
  form: StandingFormAnswer;
  /** The keep-score by which it was chosen, 1 to 1000. */
  keep: number;
  /** A word of `EndReason`, or `least_loss`. */
  reason: string;
  /** Of a short form, the events whose texts it replaces. */
  results?: Array<number>;
  /** Tokens it frees, without what the ledger grows by. */
  savings: number;
  turn: number;
  unit: number;
};

/** A message with its results, as the window holds it. */
export type UnitViewAnswer = {
  /** The address of an original, such as artifact://…. */
  address: string;
  form: StandingFormAnswer;
  /** The text, verbatim. */
  text: string;
  /** Tokens, as the model counts them. */
  tokens: number;
  turn: number;
};

/** What an un-merge did. */
export type UnmergeReceiptAnswer = {
  /** What waits for a decision because of it. */
  actions?: Array<string>;
  /** The id of a merge. */
  merge_id: string;
  /** Raw ids of each part that came apart, its canonical id first. */
  parts: Array<Array<string>>;
  replanned_slots: Array<string>;
  replayed?: boolean;
  /** The moment of knowledge: when the store learned it. */
  tx: string;
  /** Whether some of its parts, members, slots or ties may not be seen by the caller. */
  withheld?: boolean;
};

/** The result of the checks on an envelope; a quality metric outside its target is a warning. */
export type ValidationStatusAnswer = "CLEAN" | "WARNINGS" | "FAILED";

/** The type of a slot's value; each has one rule of equality in `values`. */
export type ValueTypeAnswer = "string" | "text" | "integer" | "number" | "boolean" | "instant" | "date" | "partial_date" | "entity" | "json";

/** How fast a window fills; the bands are the customary ones, the gaps go to the nearer band. */
export type VelocityClassAnswer = "low" | "medium" | "high";

export type ViewEntityRequest = {
  /** A name as it is written in a text. */
  mention: string | EntityRef | Record<string, unknown>;
  /** What was known at this time, such as 2026-06-01T00:00:00Z; now by default. */
  tx?: string | null;
  /** What is true at this time, such as 2026-06-01T00:00:00Z; now by default. */
  valid?: string | null;
};

export type ViewFactsRequest = {
  /** An entity: a name or an id. */
  entity: string | EntityRef | Record<string, unknown>;
  /** What was known at this time, such as 2026-06-01T00:00:00Z; now by default. */
  tx?: string | null;
  /** What is true at this time, such as 2026-06-01T00:00:00Z; now by default. */
  valid?: string | null;
};

export type ViewNeighbourhoodRequest = {
  /** An entity: a name or an id. */
  entity: string | EntityRef | Record<string, unknown>;
  /** How many relations to follow. */
  hops?: number;
  /** At most so many. */
  limit?: number;
  /** What was known at this time, such as 2026-06-01T00:00:00Z; now by default. */
  tx?: string | null;
  /** What is true at this time, such as 2026-06-01T00:00:00Z; now by default. */
  valid?: string | null;
};

export type ViewObjectRequest = {
  /** The id of a stored object. */
  object_id: string;
  /** What was known at this time, such as 2026-06-01T00:00:00Z; now by default. */
  tx?: string | null;
  /** What is true at this time, such as 2026-06-01T00:00:00Z; now by default. */
  valid?: string | null;
};

export type ViewPlaneRequest = {
  /** An entity: a name or an id. */
  entity: string | EntityRef | Record<string, unknown>;
  /** A property of the entity, such as office or manager. */
  slot: string;
  /** What was known at this time, such as 2026-06-01T00:00:00Z; now by default. */
  tx?: string | null;
  /** What is true at this time, such as 2026-06-01T00:00:00Z; now by default. */
  valid?: string | null;
};

export type ViewSearchRequest = {
  /** An entity: a name or an id. */
  entity?: string | EntityRef | Record<string, unknown> | null;
  /** At most so many. */
  limit?: number;
  /** The type of the object, such as identity_fact or preference. */
  object_type?: string | null;
  /** Words to look for. */
  text: string;
  /** What was known at this time, such as 2026-06-01T00:00:00Z; now by default. */
  tx?: string | null;
  /** What is true at this time, such as 2026-06-01T00:00:00Z; now by default. */
  valid?: string | null;
};

export type ViewSlotRequest = {
  /** An entity: a name or an id. */
  entity: string | EntityRef | Record<string, unknown>;
  /** Where it holds: everywhere, or for one user, project or session. */
  scope?: Scope | Record<string, string> | null;
  /** A property of the entity, such as office or manager. */
  slot: string;
  /** What was known at this time, such as 2026-06-01T00:00:00Z; now by default. */
  tx?: string | null;
  /** What is true at this time, such as 2026-06-01T00:00:00Z; now by default. */
  valid?: string | null;
};

export type ViewTimelineRequest = {
  /** An entity: a name or an id. */
  entity: string | EntityRef | Record<string, unknown>;
  /** A property of the entity, such as office or manager. */
  slot: string;
  /** What was known at this time, such as 2026-06-01T00:00:00Z; now by default. */
  tx?: string | null;
  /** What is true at this time, such as 2026-06-01T00:00:00Z; now by default. */
  valid?: string | null;
};

export type ViewValueRequest = {
  /** What is answered where nothing holds. */
  default?: unknown;
  /** An entity: a name or an id. */
  entity: string | EntityRef | Record<string, unknown>;
  /** A property of the entity, such as office or manager. */
  slot: string;
  /** What was known at this time, such as 2026-06-01T00:00:00Z; now by default. */
  tx?: string | null;
  /** What is true at this time, such as 2026-06-01T00:00:00Z; now by default. */
  valid?: string | null;
};

export type VocabularyDefineRequest = {
  /** What it says, for people. */
  description?: string;
  /** The name. */
  name: string;
  /** The word of the list that this one is a kind of. */
  parent?: string | null;
  /** Which vocabulary is meant, such as task_type. */
  what: string;
};

export type VocabularyDefineSlotRequest = {
  /** Task types in which it matters; empty is all. */
  applicable_task_types?: Array<string> | null;
  /** Whether a slot holds one value or many. */
  cardinality?: string | null;
  /** Whether the value never changes: a second one is a conflict. */
  constant?: boolean | null;
  /** How fast it loses weight. */
  decay_rule?: DecayRule | Record<string, number> | null;
  /** What it says, for people. */
  description?: string | null;
  /** The sentence that tells a model what to do with a value; by task type, or one for all. */
  instruction?: string | Record<string, string> | null;
  /** Of which kind it is. */
  kind?: string | null;
  /** Whether its values limit what may be answered to a person, such as an allergy. */
  limits?: boolean | null;
  /** The name. */
  name: string;
  /** Which source wins in this slot. */
  precedence?: string | null;
  /** When it leaves the store. */
  retirement_rule?: string | null;
  /** How personal it is. */
  sensitivity?: Array<string> | null;
  /** Types of the entities that have it; empty is all. */
  subject_types?: Array<string> | null;
  /** Other names of the slot. */
  synonyms?: Array<string> | null;
  /** The type of a slot's values. */
  value_type?: string | null;
  /** Why it was kept. */
  why_it_matters?: string | null;
};

export type VocabularySlotsRequest = Record<string, unknown>;

export type VocabularyToolsRequest = Record<string, unknown>;

export type VocabularyValuesRequest = {
  /** Which vocabulary is meant, such as task_type. */
  what: string;
};

/** An envelope next to what its request gives under other circumstances. */
export type WhatIfAnswer = {
  /** Object ids that only the second text holds, in its order. */
  added_ids: Array<string>;
  /** The most tokens that the context may take. */
  budget_tokens: number;
  /** The two texts, line by line. */
  lines: Array<TextLineAnswer>;
  removed_ids: Array<string>;
  /** Roles of the caller. */
  roles: Array<string>;
  /** Tokens before the first that differs: what a cache of the prefix keeps. None: equal texts. */
  same_tokens: number | null;
  tokens_after: number;
  tokens_before: number;
  /** The moment of knowledge: when the store learned it. */
  tx: string | null;
  /** The moment in the world for which it is asked. */
  valid: string | null;
};

export type WhatIfRequest = {
  /** The most tokens that the context may take. */
  budget_tokens?: number;
  /** The id of a compiled envelope. */
  envelope_id: string;
  /** Roles of the caller. */
  roles?: Array<string>;
  /** What was known at this time, such as 2026-06-01T00:00:00Z; now by default. */
  tx?: string | null;
  /** What is true at this time, such as 2026-06-01T00:00:00Z; now by default. */
  valid?: string | null;
};

/** A metric that stayed out of its range. */
export type WindowAlertAnswer = {
  bound: number;
  level: AlertLevelAnswer;
  metric: string;
  /** What the slot holds. */
  value: number;
};

/** What keeps a window small. */
export type WindowAxisAnswer = "none" | "evict" | "compress" | "delegate";

/** What the window did about an event, and how full it is. */
export type WindowDecisionAnswer = {
  /** What an edit changed: which unit, into which form, why, and what of it still stands. */
  actions?: Array<UnitChangeAnswer>;
  alerts?: Array<WindowAlertAnswer>;
  /** What keeps the window small: evict, compress, or the advice to delegate. */
  axis?: WindowAxisAnswer;
  /** What the edit came to; None without one. */
  compression?: CompressionResultAnswer | null;
  /** The number of the edit's event, for `undo`. */
  edit?: number | null;
  notices?: Array<string>;
  reading: PressureAnswer;
  /** The same event was recorded before; nothing was done now. */
  replayed?: boolean;
  /** The number of the last event. */
  seq: number;
  /** Whether it holds, is disputed, overridden or quarantined. */
  status: WindowStatusAnswer;
  zone: ZoneAnswer;
};

/** The tunables of a session's window; the reason of each default stands next to it. */
export type WindowPolicyAnswer = {
  eviction?: EvictionPolicyAnswer;
  fading?: DecayKindAnswer;
  half_life_turns?: number;
  ledger_share?: number | null;
  memory_share?: number;
  newest_units?: number;
  notes_share?: number;
  page_tokens?: number;
  /** How the budget is shared among the sections. */
  profile?: BudgetProfileAnswer;
  result_rate?: number;
  result_tokens?: number | null;
  shares?: BudgetSharesAnswer | null;
  speech_rate?: number;
  zones?: ZonesAnswer | null;
};

/** Status shown to monitoring, one per zone. */
export type WindowStatusAnswer = "healthy" | "preparing" | "active" | "emergency";

/** One write; every field means what the parameter of `Memory.write` means. */
export type Write = {
  /** Roles that may read it, in addition to its owner. */
  allow_roles?: Array<string>;
  /** Task types in which it matters; empty is all. */
  applicable_task_types?: Array<string>;
  /** 0 is the system, 1 a developer, 2 the user, 3 an agent, 4 a stranger. */
  authority_level?: number | null;
  /** What an agent should do because of it. */
  behavioral_implication?: string | null;
  /** How sure the source is, from 0 to 1. */
  confidence?: number;
  /** The sentence as it was said. */
  content?: string | null;
  /** How fast it loses weight. */
  decay_rule?: DecayRule | Record<string, number> | null;
  /** Roles that may not read it. */
  deny_roles?: Array<string>;
  /** Ids of the objects that it was made of. */
  derived_from?: Array<string>;
  /** Whether a rule is checked by a program. */
  enforcement?: Record<string, unknown> | null;
  /** The object that the write is meant to replace; another one is a conflict. */
  expected?: string | null;
  /** A second write with the same key answers the first receipt. */
  idempotency_key?: string | null;
  /** The state layer it lives in, such as user, project or session. */
  layer?: string | null;
  /** The id of a stored object. */
  object_id?: string | null;
  /** The type of the object, such as identity_fact or preference. */
  object_type?: string | null;
  /** What the claim does: assert, correct, deny, end or confirm. */
  op?: string;
  /** Whether it is announced and not true yet. */
  planned?: boolean;
  /** When it leaves the store. */
  retirement_rule?: string | null;
  /** Where it holds: everywhere, or for one user, project or session. */
  scope?: Scope | Record<string, string> | null;
  /** public, restricted, confidential or highly_restricted. */
  security_classification?: string | null;
  /** How personal it is. */
  sensitivity?: Array<string>;
  /** A property of the entity, such as office or manager. */
  slot?: string | null;
  /** How much the source's word weighs. */
  source_authority?: number | null;
  /** The address of the source, such as mail://…. */
  source_origin?: string;
  /** Of whom or what it is said: a name, an id, or a record with a type. */
  subject?: string | EntityRef | Record<string, unknown> | null;
  /** How it may be changed. */
  update_path?: string | null;
  /** Since when it is true; null for always. */
  valid_from?: string | null;
  /** Until when it is true, itself excluded; null while it is. */
  valid_until?: string | null;
  /** What the slot holds. */
  value?: unknown;
  /** Why it was kept. */
  why_it_matters?: string;
};

export type WriteManyRequest = {
  /** Say what would happen; change nothing. */
  dry_run?: boolean;
  /** Writes, in their order. */
  writes: Array<Write>;
};

/** Limits and options of writing. */
export type WritePolicyAnswer = {
  /** What is quarantined, by channel: of what is written, and of what a request brings. */
  detectors?: Array<DetectorLimitAnswer>;
  /** Roles whose writes may instruct others, whatever the level of the write. */
  directive_roles?: Array<string>;
  injection?: InjectionPolicyAnswer;
  /** Longer content is accepted with the warning `long_content`. */
  long_text_chars?: number;
  /** Writes in one `write_many` or replay group. */
  max_batch?: number;
  /** Objects one object may be derived from. */
  max_sources?: number;
  /** A longer content, value or condition is refused as `too_large`; documents are chunked. */
  max_text_chars?: number;
  /** Whether an assert from the origin of the shown claim at equal level means `correct` */
  same_origin_corrects?: boolean;
  /** How far valid_from may lie after tx without `planned=True` before a warning: five minutes, the skew that token validators commonly allow. */
  skew_limit_s?: number;
};

export type WriteRequest = {
  /** Roles that may read it, in addition to its owner. */
  allow_roles?: Array<string>;
  /** Task types in which it matters; empty is all. */
  applicable_task_types?: Array<string>;
  /** 0 is the system, 1 a developer, 2 the user, 3 an agent, 4 a stranger. */
  authority_level?: number | null;
  /** What an agent should do because of it. */
  behavioral_implication?: string | null;
  /** How sure the source is, from 0 to 1. */
  confidence?: number;
  /** The sentence as it was said. */
  content?: string | null;
  /** How fast it loses weight. */
  decay_rule?: DecayRule | Record<string, number> | null;
  /** Roles that may not read it. */
  deny_roles?: Array<string>;
  /** Ids of the objects that it was made of. */
  derived_from?: Array<string>;
  /** Say what would happen; change nothing. */
  dry_run?: boolean;
  /** Whether a rule is checked by a program. */
  enforcement?: Record<string, unknown> | null;
  /** The object that the write is meant to replace; another one is a conflict. */
  expected?: string | null;
  /** A second write with the same key answers the first receipt. */
  idempotency_key?: string | null;
  /** The state layer it lives in, such as user, project or session. */
  layer?: string | null;
  /** The id of a stored object. */
  object_id?: string | null;
  /** The type of the object, such as identity_fact or preference. */
  object_type?: string | null;
  /** What the claim does: assert, correct, deny, end or confirm. */
  op?: string;
  /** Whether it is announced and not true yet. */
  planned?: boolean;
  /** When it leaves the store. */
  retirement_rule?: string | null;
  /** Where it holds: everywhere, or for one user, project or session. */
  scope?: Scope | Record<string, string> | null;
  /** public, restricted, confidential or highly_restricted. */
  security_classification?: string | null;
  /** How personal it is. */
  sensitivity?: Array<string>;
  /** A property of the entity, such as office or manager. */
  slot?: string | null;
  /** How much the source's word weighs. */
  source_authority?: number | null;
  /** The address of the source, such as mail://…. */
  source_origin?: string;
  /** Of whom or what it is said: a name, an id, or a record with a type. */
  subject?: string | EntityRef | Record<string, unknown> | null;
  /** How it may be changed. */
  update_path?: string | null;
  /** Since when it is true; null for always. */
  valid_from?: string | null;
  /** Until when it is true, itself excluded; null while it is. */
  valid_until?: string | null;
  /** What the slot holds. */
  value?: unknown;
  /** Why it was kept. */
  why_it_matters?: string;
};

/** Pressure zones, rising. */
export type ZoneAnswer = "green" | "yellow" | "orange" | "red";

/** Where the pressure zones start, in permille of L, and what an edit goes down to. */
export type ZonesAnswer = {
  /** The number of an edit of the window. */
  edit?: number;
  orange?: number;
  red?: number;
  rollover?: number;
  target?: number;
  yellow?: number;
};
