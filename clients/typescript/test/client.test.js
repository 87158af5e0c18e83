// Run against a real server: TENURE_URL and TENURE_KEY name it and an owner's key.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Tenure, TenureError } from "../client.js";

const { TENURE_URL: url, TENURE_KEY: key } = process.env;
const tenure = new Tenure(url, { key });

const write = (subject, slot, value, options) => tenure.write({ subject, slot, value }, options);

test("a fact that was written is read, and compiled", async () => {
  const receipt = await write("Harbour tender", "status", "open");
  assert.equal(receipt.outcome, "accepted");
  const state = await tenure.view.slot({ entity: "Harbour tender", slot: "status" });
  assert.deepEqual(state.values, ["open"]);
  const envelope = await tenure.compile({
    task: "assistant",
    query: "How is the Harbour tender?",
    budget_tokens: 600,
  });
  assert.match(envelope.text, /Harbour tender \| status = open/);
});

test("a retry with the same key writes nothing twice", async () => {
  const options = { idempotencyKey: "quay-1" };
  const first = await write("Quay crane", "status", "open", options);
  const second = await write("Quay crane", "status", "open", options);
  assert.deepEqual(second, first);
  const other = await write("Quay crane", "status", "open");
  assert.notEqual(other.tx, first.tx);
});

test("a call that the server is too busy for is sent again under its key", async () => {
  const keys = [];
  const fetcher = async (address, init) => {
    keys.push(init.headers["idempotency-key"]);
    if (keys.length === 1) throw new TypeError("connection lost");
    if (keys.length === 2) {
      return new Response('{"code": "too_busy"}', { status: 503, headers: { "retry-after": "0.01" } });
    }
    return fetch(address, init);
  };
  const receipt = await new Tenure(url, { key, fetch: fetcher }).write({
    subject: "Pier lamp",
    slot: "status",
    value: "lit",
  });
  assert.equal(receipt.outcome, "accepted");
  assert.equal(keys.length, 3);
  assert.equal(new Set(keys).size, 1);

  keys.length = 0;
  const once = new Tenure(url, { key, fetch: fetcher, retries: 0 });
  await assert.rejects(once.write({ subject: "Pier lamp", slot: "status", value: "off" }), TypeError);
});

test("a listing reads its pages", async () => {
  for (const number of [1, 2, 3, 4, 5]) await write(`Berth ${number}`, "status", "free");
  const listing = tenure.entities.list({}, { pageSize: 2 });
  const names = (await listing.all()).map((entity) => entity.name);
  for (const number of [1, 2, 3, 4, 5]) assert.ok(names.includes(`Berth ${number}`));
  assert.equal(new Set(names).size, names.length);
  const page = await listing.page();
  assert.equal(page.items.length, 2);
  assert.notDeepEqual((await listing.page(page.next_cursor)).items, page.items);
});

test("a case is decided at the version that was seen", async () => {
  for (const hr of ["3301", "3302"]) {
    const subject = { name: "Erik Vance", type: "person", external_ids: { hr } };
    await write(subject, "title", `number ${hr}`);
  }
  await write({ name: "Erik Vance", type: "person" }, "office", "Bergen");
  const [review] = await tenure.reviews.list().all();
  const entity = review.candidates[0].entity;
  const request = { review_id: review.review_id, entity };
  await assert.rejects(tenure.reviews.accept(request, { ifMatch: review.version + 1 }), (error) => {
    assert.ok(error instanceof TenureError);
    assert.deepEqual([error.status, error.code], [412, "stale_version"]);
    return true;
  });
  await tenure.reviews.accept(request, { ifMatch: review.version });
  assert.deepEqual(await tenure.reviews.list().all(), []);
  const facts = await tenure.view.facts({ entity });
  assert.deepEqual(facts.office.values, ["Bergen"]);
});

test("bytes come back as they were put", async () => {
  const data = { base64: btoa("\u0000\u0001tide table") };
  const { address } = await tenure.artifacts.put({ data, name: "tide.bin" });
  const bytes = await tenure.artifacts.get({ address });
  assert.deepEqual(new TextDecoder().decode(bytes), "\u0000\u0001tide table");
});

test("lines go in and come out", async () => {
  const event = { subject: "Crane two", slot: "status", value: "idle" };
  const report = await tenure.ingest(`${JSON.stringify(event)}\n`);
  assert.equal(report.events, 1);
  let records = 0;
  for await (const record of await tenure.export()) {
    assert.equal(typeof record, "object");
    records += 1;
  }
  assert.ok(records > 5);
});

test("what the server refuses has its code, and a stranger gets 401", async () => {
  await assert.rejects(write("X", "statsu", "y"), { code: "unknown_vocabulary", status: 422 });
  await assert.rejects(new Tenure(url).caller(), { status: 401 });
});
