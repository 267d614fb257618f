// LibreOffice reads CSV records with hostile texts and evaluates none of them.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { csvRecord } from '../../src/platform/lists/csv.ts'
import { ensureLibreOffice } from '../engines/install.ts'
import { formulaPayloads } from '../kit/formula-payloads.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'manager-csv-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** How many cells of a CSV text are formulas to LibreOffice. */
async function readBySpreadsheet(name: string, csv: string) {
  await writeFile(join(folder, `${name}.csv`), csv)
  // Comma, double quote, UTF-8, from line 1; the last flags evaluate formulas, as Excel does.
  const filter = 'Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1,true'
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

test('CSV follows RFC 4180, and no payload is a formula to a spreadsheet', async () => {
  const corpus = formulaPayloads.map((payload) => csvRecord(['before', payload, 'after'])).join('')
  expect((await readBySpreadsheet('corpus', corpus)).formulas).toBe(0)
  // The same texts as they are: the spreadsheet would have run them.
  const raw = formulaPayloads.map((payload) => `before,"${payload.replaceAll('"', '""')}",after\r\n`).join('')
  expect((await readBySpreadsheet('raw', raw)).formulas).toBeGreaterThan(5)
}, 120_000)
