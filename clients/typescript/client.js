/**
 * The client of a tenure server: every call of `/v1`, by `fetch` alone.
 *
 * A call that writes carries an Idempotency-Key, so that a retry after a lost answer writes nothing
 * twice. What the server refuses for now (429, 503) and what the network loses is tried again.
 * A listing reads its pages as they are needed.
 */
import { CALLS } from "./calls.js";

const RETRIED = new Set([429, 503]);
const LONGEST_PAUSE_S = 30;

/** What a server refused: a problem of RFC 9457, with the stable code of tenure. */
export class TenureError extends Error {
  constructor(problem, retryAfter) {
    super(`${problem.detail} [${problem.code}]`);
    this.name = "TenureError";
    this.status = problem.status;
    this.code = problem.code;
    this.kind = problem.kind ?? "";
    this.data = problem.data ?? {};
    this.errors = problem.errors ?? [];
    this.traceId = problem.trace_id ?? "";
    this.retryAfter = retryAfter;
  }
}

/** The entries of a listing: `for await` reads them all, `page()` one page. */
export class Listing {
  constructor(read, options) {
    this.read = read;
    this.size = options.pageSize ?? 200;
  }

  /** One page; the cursor is the `next_cursor` of the page before. */
  page(cursor) {
    return this.read({ page_size: this.size, ...(cursor ? { cursor } : {}) });
  }

  async *[Symbol.asyncIterator]() {
    for (let cursor = ""; cursor !== null; ) {
      const page = await this.page(cursor);
      yield* page.items;
      cursor = page.next_cursor;
    }
  }

  /** Every entry, as an array. */
  async all() {
    const entries = [];
    for await (const entry of this) entries.push(entry);
    return entries;
  }
}

export class Tenure {
  constructor(url, { key, fetch: fetcher = globalThis.fetch, retries = 2 } = {}) {
    this.url = String(url).replace(/\/+$/, "");
    this.key = key;
    this.fetch = fetcher;
    this.retries = retries;
    for (const call of CALLS) {
      const [group, name] = call.name.length === 2 ? call.name : ["", call.name[0]];
      if (group) this[group] ??= {};
      (group ? this[group] : this)[name] = (request, options = {}) =>
        this.run(call, request, options);
    }
  }

  /** Run one call of the table. */
  run(call, request, options) {
    if (call.list) {
      return new Listing((query) => this.ask(call, request, { ...options, query }), options);
    }
    return this.ask(call, request, options);
  }

  async ask(call, request, options) {
    const headers = { accept: call.lines ? "application/x-ndjson" : "application/json" };
    if (this.key) headers.authorization = `Bearer ${this.key}`;
    if (call.keyed) headers["idempotency-key"] = options.idempotencyKey ?? crypto.randomUUID();
    if (call.versioned) headers["if-match"] = String(options.ifMatch ?? request?.version ?? "*");

    const query = new URLSearchParams(call.query ? request : options.query);
    const address = `${this.url}${call.path}${query.size ? `?${query}` : ""}`;
    let body;
    if (call.upload) {
      headers["content-type"] = "application/x-ndjson";
      body = request;
    } else if (call.method === "POST") {
      headers["content-type"] = "application/json";
      body = JSON.stringify(request ?? {});
    }
    const init = { method: call.method, headers, body, signal: options.signal };
    if (body instanceof ReadableStream) init.duplex = "half";

    const answer = await this.send(address, init, call);
    if (call.lines) return lines(answer.body);
    const value = await answer.json();
    return call.bytes ? Uint8Array.from(atob(value), (letter) => letter.charCodeAt(0)) : value;
  }

  async send(address, init, call) {
    // Without a key a call that changes something, and a stream, are sent once.
    const isSafe = !call.upload && !call.once;
    for (let turn = 0; ; turn += 1) {
      const isLast = !isSafe || turn >= this.retries;
      let answer;
      try {
        answer = await this.fetch(address, init);
      } catch (error) {
        if (isLast || init.signal?.aborted) throw error;
        await pause(2 ** turn / 4, init.signal);
        continue;
      }
      if (answer.ok) return answer;

      const seconds = Number(answer.headers.get("retry-after")) || undefined;
      const problem = await problemOf(answer);
      if (isLast || !RETRIED.has(answer.status)) throw new TenureError(problem, seconds);
      await pause(Math.min(seconds ?? 2 ** turn / 4, LONGEST_PAUSE_S), init.signal);
    }
  }
}

async function problemOf(answer) {
  const text = await answer.text();
  try {
    return JSON.parse(text);
  } catch {
    // A proxy answered, or nobody: there is no code but its status.
    return { status: answer.status, code: "no_problem", detail: text.slice(0, 200) };
  }
}

function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

async function* lines(stream) {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop();
    for (const part of parts) if (part) yield JSON.parse(part);
  }
  if (rest.trim()) yield JSON.parse(rest);
}
