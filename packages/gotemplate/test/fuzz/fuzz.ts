// `npm run fuzz -w gotemplate -- --runs 200000 --seed 1`: renders random templates with this package and with Go.
import { parseArgs } from 'node:util'
import * as fc from 'fast-check'
import { type Case, Oracle, type Outcome, oracleProgram } from '../oracle/oracle.ts'
import { compare } from './compare.ts'
import { cases } from './templates.ts'

const BATCH = 1000
const SHOWN = 20

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '200000' },
    seed: { type: 'string', default: String(Date.now() % 1e9) },
  },
})
const runs = Number(values.runs)
const firstSeed = Number(values.seed)
const program = oracleProgram()
if (program === null) throw new Error('fuzzing needs Go, which is not installed')

const oracle = new Oracle(program)
const counts = { agrees: 0, disagrees: 0, skipped: 0 }
const phases = { rendered: 0, parse: 0, exec: 0 }
const started = performance.now()
process.stdout.write(`${runs} templates from seed ${firstSeed}\n`)
for (let done = 0; done < runs; done += BATCH) {
  const seed = firstSeed + done
  const batch = fc.sample(cases, { numRuns: Math.min(BATCH, runs - done), seed })
  const comparisons = await Promise.all(batch.map((request) => compare(oracle, request)))
  for (const [index, { verdict, go, here }] of comparisons.entries()) {
    counts[verdict]++
    phases[go.phase ?? 'rendered']++
    if (verdict === 'disagrees' && counts.disagrees <= SHOWN) await show(batch[index] as Case, go, here)
  }
  const seconds = (performance.now() - started) / 1000
  process.stdout.write(
    `${done + batch.length} in ${seconds.toFixed(0)} s: ${JSON.stringify({ ...counts, ...phases })}\n`,
  )
}
await oracle.close()
process.stdout.write(`disagreements: ${counts.disagrees} of ${runs}\n`)
process.exitCode = counts.disagrees === 0 ? 0 : 1

/** Prints a disagreement. Removes pieces of the template to find the shortest one that still disagrees. */
async function show(request: Case, go: Outcome, here: Outcome): Promise<void> {
  let smallest = { request, go, here }
  for (let size = 64; size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at + size <= smallest.request.template.length; at++) {
      const { template } = smallest.request
      const shorter = { ...request, template: template.slice(0, at) + template.slice(at + size) }
      const comparison = await compare(oracle, shorter)
      const isSame = comparison.go.phase === go.phase && comparison.here.phase === here.phase
      if (comparison.verdict === 'disagrees' && isSame) smallest = { request: shorter, ...comparison }
    }
  }
  process.stdout.write(
    `${JSON.stringify(smallest.request)}\n  Go:   ${JSON.stringify(smallest.go)}\n  here: ${JSON.stringify(smallest.here)}\n`,
  )
}
