// Tests that LibreOffice reads CSV records with hostile values and evaluates none of these values.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { formatCsvRecord } from '../../src/platform/lists/csv.ts'
import { ensureLibreOffice } from '@manager/harness/engines/install.ts'
import { formulaPayloads } from '../kit/formula-payloads.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'manager-csv-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** Returns how many cells of a CSV text LibreOffice treats as formulas if it uses this separator. */
async function readBySpreadsheet(name: string, csv: string, separator: string) {
  await writeFile(join(folder, `${name}.csv`), csv)
  // Filter options: separator, double quote, UTF-8, start at line 1. The last flags make LibreOffice evaluate formulas,
  // like Excel.
  const filter = `Text - txt - csv (StarCalc):${separator.charCodeAt(0)},34,76,1,,0,false,true,false,false,false,-1,true`
  await promisify(execFile)(ensureLibreOffice(), [
    `-env:UserInstallation=file://${folder}/profile`,
    '--headless',
    `--infilter=${filter}`,
    '--convert-to',
    'fods',
    '--outdir',
    folder,
    join(folder, `${name}.csv`),
  ])
  const xml = await readFile(join(folder, `${name}.fods`), 'utf8')
  const table = xml.slice(xml.indexOf('<office:spreadsheet>'))
  return { formulas: (table.match(/table:formula=/g) ?? []).length }
}

test.each<[string, string, number]>([
  ['commas', ',', 5],
  ['semicolons', ';', 0],
  ['tabs', '\t', 0],
])(
  'no payload is a formula to a spreadsheet that separates cells by %s',
  async (name, separator, atLeast) => {
    const corpus = formulaPayloads.map((payload) => formatCsvRecord(['before', payload, 'after'])).join('')
    expect((await readBySpreadsheet(`corpus-${name}`, corpus, separator)).formulas).toBe(0)
    // Without escaping, the spreadsheet evaluates some of the values.
    const raw = formulaPayloads
      .map((payload) => `before,"${payload.replaceAll('"', '""')}",after\r\n`)
      .join('')
    expect((await readBySpreadsheet(`raw-${name}`, raw, separator)).formulas).toBeGreaterThan(atLeast)
  },
  120_000,
)
