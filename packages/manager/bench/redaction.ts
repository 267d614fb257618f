// Searches for the inputs that take longest to redact: node bench/redaction.ts <seconds> [seed]. It generates
// random sequences of symbols, and then mutates the slowest ones repeatedly.
import { symbols } from '../test/kit/symbols.ts'
import { redactBody, redactHeaders, redactUrl } from '../src/features/call-log/redact.pure.ts'
import { type Budget, createBudget } from '../src/features/call-log/redact-budget.pure.ts'

type Text = { runs: { unit: string[]; times: number }[]; contentType: string | null; isTruncated: boolean }
type Measurement = { text: Text; ms: number; values: number }

const [, , seconds = '60', seed = '1'] = process.argv
const maxBytes = { body: 65_536, query: 16_000, headers: 16_000 }
const [rounds, roundsAtEnd] = [5, 60]
const maxKept = 30
const types = [null, null, 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']
const times = [1, 2, 30, 1_000, 65_536]

let state = Number(seed)
function randomBelow(limit: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((state / 2 ** 32) * limit)
}
const pickOne = <T>(of: readonly T[]): T => of[randomBelow(of.length)] as T
const createUnit = () => Array.from({ length: 1 + randomBelow(pickOne([1, 3, 12])) }, () => pickOne(symbols))
const createRun = () => ({ unit: createUnit(), times: pickOne(times) })
const createText = (): Text => ({
  runs: Array.from({ length: 1 + randomBelow(4) }, createRun),
  contentType: pickOne(types),
  isTruncated: randomBelow(2) === 0,
})

function mutate(text: Text): Text {
  const mutant = structuredClone(text)
  const { unit } = pickOne(mutant.runs)
  const mutations = [
    () => unit.splice(randomBelow(unit.length + 1), 0, pickOne(symbols)),
    () => unit.splice(randomBelow(unit.length), unit.length > 1 ? 1 : 0),
    () => (unit[randomBelow(unit.length)] = pickOne(symbols)),
    () => mutant.runs.splice(randomBelow(mutant.runs.length + 1), 0, createRun()),
    () => mutant.runs.splice(randomBelow(mutant.runs.length), mutant.runs.length > 1 ? 1 : 0),
    () => (mutant.contentType = pickOne(types)),
    () => (mutant.isTruncated = !mutant.isTruncated),
  ]
  for (let count = 1 + randomBelow(3); count > 0; count--) pickOne(mutations)()
  return mutant
}

const renderText = ({ runs }: Text, length: number): string =>
  runs
    .reduce((text, { unit, times }) => text + unit.join('').repeat(times).slice(0, length), '')
    .slice(0, length)

/** A single call whose duration is measured. */
type RedactionCall = (budget: Budget) => void
const entries: Record<keyof typeof maxBytes, (text: Text) => RedactionCall> = {
  body: (text) => {
    const body = Buffer.from(renderText(text, maxBytes.body)).subarray(0, maxBytes.body)
    const bodyInfo = { totalBytes: body.length + Number(text.isTruncated), contentType: text.contentType }
    return (budget) => redactBody(body, { ...bodyInfo, contentEncoding: null }, budget)
  },
  query: (text) => {
    const url = `https://h/?${renderText(text, maxBytes.query)}`
    return (budget) => redactUrl(url, budget)
  },
  headers: (text) => {
    const rawHeaders = renderText(text, maxBytes.headers).match(/[^]{1,100}/g) ?? []
    return (budget) => redactHeaders(rawHeaders, budget)
  },
}

/** Measures a call and returns the shortest time of several rounds. */
function measure(text: Text, run: RedactionCall, rounds: number): Measurement {
  let [ms, values] = [Infinity, 0]
  for (let round = 0; round < rounds; round++) {
    const budget = createBudget()
    const startedAt = performance.now()
    run(budget)
    ms = Math.min(ms, performance.now() - startedAt)
    values = budget.spent
  }
  return { text, ms, values }
}

for (const [name, entry] of Object.entries(entries)) {
  let slowest: Measurement[] = []
  let count = 0
  const endAt = performance.now() + (Number(seconds) * 1_000) / Object.keys(entries).length
  for (; performance.now() < endAt; count++) {
    const text =
      slowest.length < maxKept || randomBelow(3) === 0 ? createText() : mutate(pickOne(slowest).text)
    slowest.push(measure(text, entry(text), rounds))
    slowest = slowest.toSorted((a, b) => b.ms - a.ms).slice(0, maxKept)
  }
  process.stdout.write(`${name}: ${count} inputs\n`)
  const finalMeasurements = slowest.map(({ text }) => measure(text, entry(text), roundsAtEnd))
  for (const { text, ms, values } of finalMeasurements.toSorted((a, b) => b.ms - a.ms).slice(0, 5))
    process.stdout.write(`  ${ms.toFixed(2)} ms, ${values} values: ${JSON.stringify(text)}\n`)
}
