// `npm run corpus -w gotemplate`: renders every case in test/corpus with Go again and stores the results. A new case
// needs only its template. Cases that need a newer Go are in newer-go.json and stay unchanged.
import { execFileSync } from 'node:child_process'
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { type CorpusFile, corpusDirectory, caseOf } from '../corpus.ts'
import { Oracle, oracleProgram } from './oracle.ts'

const program = oracleProgram()
if (program === null) throw new Error('the corpus needs Go, which is not installed')
const oracle = new Oracle(program)
let count = 0
for (const name of readdirSync(corpusDirectory)) {
  if (name === 'newer-go.json') continue
  const path = `${corpusDirectory}/${name}`
  const file = JSON.parse(readFileSync(path, 'utf8')) as CorpusFile
  const cases = await Promise.all(
    file.cases.map(async (entry) => {
      const { output, phase } = await oracle.ask(caseOf(file, entry))
      // JSON omits undefined fields.
      return { ...entry, phase, output }
    }),
  )
  count += cases.length
  writeFileSync(path, JSON.stringify({ ...file, cases }, null, 2))
}
await oracle.close()
execFileSync('npx', ['prettier', '--write', '--log-level', 'warn', corpusDirectory], { stdio: 'inherit' })
process.stdout.write(`${count} cases\n`)
