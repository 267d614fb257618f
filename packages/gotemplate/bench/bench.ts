// `npm run bench -w gotemplate`: compares this package with Go and with other packages. The rounds of all
// engines alternate.
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

const ownEngine: Engine = {
  name: 'gotemplate',
  render: (text, data) => parse(text).execute(data),
  prepare: (text) => {
    const template = parse(text)
    return (data) => template.execute(data)
  },
}
const engines = [ownEngine, ...loadOtherPackages()]
const oracle = oracleProgram()

/** Returns the microseconds per call in one round. Reads the output, because callers would read it too. */
function measureMicros(work: () => string): number {
  let calls = 0
  let checksum = 0
  const startedAt = performance.now()
  while (performance.now() - startedAt < roundMs) {
    for (let i = 0; i < 50; i++) checksum += work().charCodeAt(0)
    calls += 50
  }
  if (Number.isNaN(checksum)) throw new Error('an output is empty')
  return ((performance.now() - startedAt) * 1000) / calls
}

type Measurements = Map<string, number[]>

function addMeasurement(measurements: Measurements, name: string, value: number): void {
  measurements.set(name, [...(measurements.get(name) ?? []), value])
}

function measureGo(sample: Sample, measurements: Measurements): void {
  if (oracle === null) return
  const request = JSON.stringify({ id: 0, template: sample.template, data: sample.data })
  const output = execFileSync(oracle, ['-bench', `${roundMs}ms`], { input: `${request}\n`, encoding: 'utf8' })
  const { parseMicros, executeMicros } = JSON.parse(output) as { parseMicros: number; executeMicros: number }
  addMeasurement(measurements, 'Go: parse', parseMicros)
  addMeasurement(measurements, 'Go: execute', executeMicros)
  addMeasurement(measurements, 'Go: parse and execute', parseMicros + executeMicros)
}

function measureEngine(engine: Engine, sample: Sample, measurements: Measurements): void {
  const { template, data } = sample
  addMeasurement(
    measurements,
    `${engine.name}: parse and execute`,
    measureMicros(() => engine.render(template, data)),
  )
  if (engine.prepare === undefined) return
  const execute = engine.prepare(template)
  addMeasurement(
    measurements,
    `${engine.name}: execute`,
    measureMicros(() => execute(data)),
  )
  if (engine === ownEngine)
    addMeasurement(
      measurements,
      `${engine.name}: parse`,
      measureMicros(() => parse(template).name),
    )
}

/** Returns the lower quartile, because other work on the machine can only make a round slower. */
const getLowerQuartile = (list: readonly number[]): number =>
  list.toSorted((a, b) => a - b)[list.length >> 2] ?? Number.NaN

/** Returns the engines that render the sample as Go does. Prints the names of the other engines. */
function listCapableEngines(sample: Sample): Engine[] {
  const expected = parse(sample.template).execute(sample.data)
  return engines.filter(({ name, render }) => {
    let output: string | null
    try {
      output = render(sample.template, sample.data)
    } catch {
      output = null
    }
    if (output !== expected) process.stdout.write(`  ${name} cannot render this template\n`)
    return output === expected
  })
}

for (const sample of samples) {
  process.stdout.write(`\n${sample.name} (${sample.template.length} characters)\n`)
  const capableEngines = listCapableEngines(sample)
  const measurements: Measurements = new Map()
  for (let round = 0; round < rounds; round++) {
    measureGo(sample, measurements)
    for (const engine of capableEngines) measureEngine(engine, sample, measurements)
  }
  for (const [name, list] of measurements) {
    const operation = name.slice(name.indexOf(': ') + 2)
    const ratio =
      getLowerQuartile(list) / getLowerQuartile(measurements.get(`${ownEngine.name}: ${operation}`) ?? [])
    const comparison = name.startsWith(ownEngine.name)
      ? ''
      : `  ${ratio.toFixed(2)} times the duration of ${ownEngine.name}`
    process.stdout.write(
      `  ${name.padEnd(44)} ${getLowerQuartile(list).toFixed(1).padStart(8)} µs${comparison}\n`,
    )
  }
}
