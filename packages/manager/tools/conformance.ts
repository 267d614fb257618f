// `npm run conformance` prints the coverage by area and writes docs/reference/conformance.md. It fails if a test claims
// an unknown entry or if a covered entry has lost its test. With --check, it also fails if the page is not up to date.
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import {
  type Claims,
  findClaims,
  renderConformancePage,
  countCovered,
  readCoveredIds,
  findProblems,
  readRegister,
} from './claims.ts'

const root = new URL('../../../', import.meta.url).pathname
const pageFile = `${root}docs/reference/conformance.md`
const register = readRegister(readFileSync(new URL('../conformance/register.yaml', import.meta.url), 'utf8'))
const claims: Claims = new Map()
for (const file of globSync('packages/*/{src,test}/**/*.test.ts', { cwd: root }).toSorted()) {
  // A rule must be tested on every change, so nightly tests cannot claim it.
  if (file.endsWith('.nightly.test.ts')) continue
  for (const id of findClaims(readFileSync(root + file, 'utf8')))
    claims.set(id, (claims.get(id) ?? new Set()).add(file.replace(/^packages\/manager\//, '')))
}

let [covered, total] = [0, 0]
for (const { title, entries } of register.areas) {
  const count = countCovered(entries, claims)
  covered += count
  total += entries.length
  process.stdout.write(`${title.padEnd(40)} ${String(count).padStart(4)} / ${entries.length}\n`)
}
process.stdout.write(`${'all'.padEnd(40)} ${String(covered).padStart(4)} / ${total}\n`)

const currentPage = existsSync(pageFile) ? readFileSync(pageFile, 'utf8') : ''
const page = renderConformancePage(register, claims)
const problems = findProblems(register, claims, readCoveredIds(currentPage))
if (process.argv.includes('--check') && currentPage !== page)
  problems.push('docs/reference/conformance.md is not up to date; run npm run conformance')
if (problems.length === 0) writeFileSync(pageFile, page)
for (const problem of problems) process.stderr.write(`${problem}\n`)
process.exitCode = problems.length === 0 ? 0 : 1
