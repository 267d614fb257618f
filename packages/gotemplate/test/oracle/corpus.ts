// `npm run corpus -w gotemplate`: asks Go again for the outcome of every case in test/corpus and writes it down. A new
// case needs its template only. What the installed Go is too old for stands in newer-go.json and is left as it is.
import { execFileSync } from 'node:child_process'
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { type CorpusFile, corpusDirectory, caseOf } from '../corpus.ts'
import { Oracle, oracleProgram } from './oracle.ts'

const program = oracleProgram()
if (program === null) throw new Error('the outcomes come from Go, and there is no Go here')
const oracle = new Oracle(program)
let count = 0
for (const name of readdirSync(corpusDirectory)) {
  if (name === 'newer-go.json') continue
  const path = `${corpusDirectory}/${name}`
  const file = JSON.parse(readFileSync(path, 'utf8')) as CorpusFile
  const cases = await Promise.all(
    file.cases.map(async (entry) => {
      const { output, phase } = await oracle.ask(caseOf(file, entry))
      // JSON leaves out what is undefined.
      return { ...entry, phase, output }
    }),
  )
  count += cases.length
  writeFileSync(path, JSON.stringify({ ...file, cases }, null, 2))
}
await oracle.close()
execFileSync('npx', ['prettier', '--write', '--log-level', 'warn', corpusDirectory], { stdio: 'inherit' })
process.stdout.write(`${count} cases\n`)
