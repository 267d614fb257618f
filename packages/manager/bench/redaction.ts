// Searches for the texts that take longest to redact: node bench/redaction.ts <seconds> [seed]. Random texts of symbols
// are changed at random, and the slowest ones are changed again.
import { symbols } from '../test/kit/symbols.ts'
import { redactBody, redactHeaders, redactUrl } from '../src/features/call-log/redact.pure.ts'
import { createWork, type Work } from '../src/features/call-log/redact-work.pure.ts'

type Text = { runs: { unit: string[]; times: number }[]; contentType: string | null; isCut: boolean }
type Measured = { text: Text; ms: number; steps: number }

const [, , seconds = '60', seed = '1'] = process.argv
const maxBytes = { body: 65_536, query: 16_000, headers: 16_000 }
const [rounds, roundsAtEnd] = [5, 60]
const kept = 30
const types = [null, null, 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']
const times = [1, 2, 30, 1_000, 65_536]

let state = Number(seed)
function below(limit: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((state / 2 ** 32) * limit)
}
const one = <T>(of: readonly T[]): T => of[below(of.length)] as T
const someUnit = () => Array.from({ length: 1 + below(one([1, 3, 12])) }, () => one(symbols))
const someRun = () => ({ unit: someUnit(), times: one(times) })
const someText = (): Text => ({
  runs: Array.from({ length: 1 + below(4) }, someRun),
  contentType: one(types),
  isCut: below(2) === 0,
})

function changed(text: Text): Text {
  const next = structuredClone(text)
  const { unit } = one(next.runs)
  const changes = [
    () => unit.splice(below(unit.length + 1), 0, one(symbols)),
    () => unit.splice(below(unit.length), unit.length > 1 ? 1 : 0),
    () => (unit[below(unit.length)] = one(symbols)),
    () => next.runs.splice(below(next.runs.length + 1), 0, someRun()),
    () => next.runs.splice(below(next.runs.length), next.runs.length > 1 ? 1 : 0),
    () => (next.contentType = one(types)),
    () => (next.isCut = !next.isCut),
  ]
  for (let count = 1 + below(3); count > 0; count--) one(changes)()
  return next
}

const written = ({ runs }: Text, length: number): string =>
  runs
    .reduce((text, { unit, times }) => text + unit.join('').repeat(times).slice(0, length), '')
    .slice(0, length)

/** How many characters, and what is measured. */
type Entry = [number, (work: Work) => void]
const entries: Record<keyof typeof maxBytes, (text: Text) => Entry> = {
  body: (text) => {
    const body = Buffer.from(written(text, maxBytes.body)).subarray(0, maxBytes.body)
    const about = { totalBytes: body.length + Number(text.isCut), contentType: text.contentType }
    return [body.length, (work) => redactBody(body, { ...about, contentEncoding: null }, work)]
  },
  query: (text) => {
    const url = `https://h/?${written(text, maxBytes.query)}`
    return [url.length, (work) => redactUrl(url, work)]
  },
  headers: (text) => {
    const raw = written(text, maxBytes.headers).match(/[^]{1,100}/g) ?? []
    return [raw.join('').length, (work) => redactHeaders(raw, work)]
  },
}

/** The least time of a few rounds. */
function measured(text: Text, [characters, run]: Entry, rounds: number): Measured {
  let [ms, steps] = [Infinity, 0]
  for (let round = 0; round < rounds; round++) {
    const work = createWork(characters)
    const started = performance.now()
    run(work)
    ms = Math.min(ms, performance.now() - started)
    steps = work.spent
  }
  return { text, ms, steps }
}

for (const [name, entry] of Object.entries(entries)) {
  let slowest: Measured[] = []
  let count = 0
  const end = performance.now() + (Number(seconds) * 1_000) / Object.keys(entries).length
  for (; performance.now() < end; count++) {
    const text = slowest.length < kept || below(3) === 0 ? someText() : changed(one(slowest).text)
    slowest.push(measured(text, entry(text), rounds))
    slowest = slowest.toSorted((a, b) => b.ms - a.ms).slice(0, kept)
  }
  process.stdout.write(`${name}: ${count} texts\n`)
  const again = slowest.map(({ text }) => measured(text, entry(text), roundsAtEnd))
  for (const { text, ms, steps } of again.toSorted((a, b) => b.ms - a.ms).slice(0, 5))
    process.stdout.write(
      `  ${ms.toFixed(2)} ms, ${steps} steps, ${((ms * 1e6) / steps).toFixed(2)} ns per step: ${JSON.stringify(text)}\n`,
    )
}
