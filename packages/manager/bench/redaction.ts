// Searches for the texts that take longest to redact: node bench/redaction.ts <seconds> [seed]. It mutates random
// sequences of symbols, and then mutates the slowest ones again.
import { symbols } from '../test/kit/symbols.ts'
import { redactBody, redactHeaders, redactUrl } from '../src/features/call-log/redact.pure.ts'
import { type Budget, createBudget } from '../src/features/call-log/redact-budget.pure.ts'

type Text = { runs: { unit: string[]; times: number }[]; contentType: string | null; isCut: boolean }
type Measured = { text: Text; ms: number; values: number }

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

/** A single call whose duration is measured. */
type Entry = (budget: Budget) => void
const entries: Record<keyof typeof maxBytes, (text: Text) => Entry> = {
  body: (text) => {
    const body = Buffer.from(written(text, maxBytes.body)).subarray(0, maxBytes.body)
    const about = { totalBytes: body.length + Number(text.isCut), contentType: text.contentType }
    return (budget) => redactBody(body, { ...about, contentEncoding: null }, budget)
  },
  query: (text) => {
    const url = `https://h/?${written(text, maxBytes.query)}`
    return (budget) => redactUrl(url, budget)
  },
  headers: (text) => {
    const raw = written(text, maxBytes.headers).match(/[^]{1,100}/g) ?? []
    return (budget) => redactHeaders(raw, budget)
  },
}

/** Returns the shortest time of a few rounds. */
function measured(text: Text, run: Entry, rounds: number): Measured {
  let [ms, values] = [Infinity, 0]
  for (let round = 0; round < rounds; round++) {
    const budget = createBudget()
    const started = performance.now()
    run(budget)
    ms = Math.min(ms, performance.now() - started)
    values = budget.spent
  }
  return { text, ms, values }
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
  for (const { text, ms, values } of again.toSorted((a, b) => b.ms - a.ms).slice(0, 5))
    process.stdout.write(`  ${ms.toFixed(2)} ms, ${values} values: ${JSON.stringify(text)}\n`)
}
