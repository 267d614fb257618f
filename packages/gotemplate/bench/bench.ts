// `npm run bench -w gotemplate`: compares this package with Go and other packages, in alternating rounds of one run.
import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { parse } from '../src/index.ts'
import { oracleProgram } from '../test/oracle/oracle.ts'
import { type Engine, loadOtherPackages } from './rivals.ts'
import { type Sample, samples } from './templates.ts'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '40' }, ms: { type: 'string', default: '25' } },
})
const rounds = Number(values.rounds)
const roundMs = Number(values.ms)

const here: Engine = {
  name: 'gotemplate',
  render: (text, data) => parse(text).execute(data),
  prepare: (text) => {
    const template = parse(text)
    return (data) => template.execute(data)
  },
}
const engines = [here, ...loadOtherPackages()]
const oracle = oracleProgram()

/** Returns the microseconds per call over one round. The output is read, because a caller would send it. */
function micros(work: () => string): number {
  let calls = 0
  let read = 0
  const started = performance.now()
  while (performance.now() - started < roundMs) {
    for (let i = 0; i < 50; i++) read += work().charCodeAt(0)
    calls += 50
  }
  if (Number.isNaN(read)) throw new Error('an output is empty')
  return ((performance.now() - started) * 1000) / calls
}

type Measurements = Map<string, number[]>

function add(measurements: Measurements, name: string, value: number): void {
  measurements.set(name, [...(measurements.get(name) ?? []), value])
}

function measureGo(sample: Sample, measurements: Measurements): void {
  if (oracle === null) return
  const request = JSON.stringify({ id: 0, template: sample.template, data: sample.data })
  const answer = execFileSync(oracle, ['-bench', `${roundMs}ms`], { input: `${request}\n`, encoding: 'utf8' })
  const { parseMicros, executeMicros } = JSON.parse(answer) as { parseMicros: number; executeMicros: number }
  add(measurements, 'Go: parse', parseMicros)
  add(measurements, 'Go: execute', executeMicros)
  add(measurements, 'Go: parse and execute', parseMicros + executeMicros)
}

function measureEngine(engine: Engine, sample: Sample, measurements: Measurements): void {
  const { template, data } = sample
  add(
    measurements,
    `${engine.name}: parse and execute`,
    micros(() => engine.render(template, data)),
  )
  if (engine.prepare === undefined) return
  const execute = engine.prepare(template)
  add(
    measurements,
    `${engine.name}: execute`,
    micros(() => execute(data)),
  )
  if (engine === here)
    add(
      measurements,
      `${engine.name}: parse`,
      micros(() => parse(template).name),
    )
}

/** The lower quartile: other work on the machine only ever makes a round longer. */
const typical = (list: readonly number[]): number =>
  list.toSorted((a, b) => a - b)[list.length >> 2] ?? Number.NaN

/** Returns the engines that render the sample like Go, and prints the names of the others. */
function ableEngines(sample: Sample): Engine[] {
  const wanted = parse(sample.template).execute(sample.data)
  return engines.filter(({ name, render }) => {
    let output: string | null
    try {
      output = render(sample.template, sample.data)
    } catch {
      output = null
    }
    if (output !== wanted) process.stdout.write(`  ${name} cannot render this template\n`)
    return output === wanted
  })
}

for (const sample of samples) {
  process.stdout.write(`\n${sample.name} (${sample.template.length} characters)\n`)
  const able = ableEngines(sample)
  const measurements: Measurements = new Map()
  for (let round = 0; round < rounds; round++) {
    measureGo(sample, measurements)
    for (const engine of able) measureEngine(engine, sample, measurements)
  }
  for (const [name, list] of measurements) {
    const what = name.slice(name.indexOf(': ') + 2)
    const ratio = typical(list) / typical(measurements.get(`${here.name}: ${what}`) ?? [])
    const relative = name.startsWith(here.name) ? '' : `  ${ratio.toFixed(2)} times the time of ${here.name}`
    process.stdout.write(`  ${name.padEnd(44)} ${typical(list).toFixed(1).padStart(8)} µs${relative}\n`)
  }
}
