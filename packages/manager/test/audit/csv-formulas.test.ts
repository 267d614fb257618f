// Tests that an audited person cannot inject a formula into a CSV export. csv-formulas.nightly.test.ts checks this with
// LibreOffice.
import { expect, test } from 'vitest'
import { formatCsvRecord } from '../../src/platform/lists/csv.ts'
import { headersOf } from '@manager/harness/callers.ts'
import { askExport } from '../kit/audit-export.ts'
import { parseCsv } from '../kit/csv.ts'
import { formulaPayloads, harmlessTexts } from '../kit/formula-payloads.ts'
import { useProject } from '../kit/project.ts'

const { service, admin } = useProject()
/** Returns whether a spreadsheet evaluates the cell. Some spreadsheets remove leading spaces first. */
const isFormula = (cell: string): boolean => /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/u.test(cell)

test('[audit-export.csv] CSV follows RFC 4180, and every cell that would be a formula starts with an apostrophe', async () => {
  for (const [index, payload] of formulaPayloads.entries()) {
    // A header can contain only these characters. The next test passes the whole payload to csvRecord.
    const userAgent = payload.replaceAll(/[^\u0020-\u007e]/g, '').trim()
    const headers = { ...headersOf(admin), 'user-agent': userAgent, 'content-type': 'application/json' }
    const input = { name: payload.replaceAll(/[\r\n\t]/g, ' ').trim(), slug: `t${index}` }
    const query = 'mutation($input: CreateProjectInput!) { createProject(input: $input) { id } }'
    const body = JSON.stringify({ query, variables: { input } })
    const created = await fetch(`${service.url}/query`, { method: 'POST', headers, body })
    expect(((await created.json()) as { errors?: unknown }).errors).toBeUndefined()
  }
  const records = parseCsv(await (await askExport(service, admin, { format: 'csv' })).text())
  expect(records.length).toBeGreaterThan(2 * formulaPayloads.length)
  expect(new Set(records.map((cells) => cells.length))).toEqual(new Set([18]))
  expect(records.map((cells) => cells[14])).toContain("'=1+1")
  expect(records.flat().filter(isFormula)).toEqual([])
})

test('a payload keeps its text, behind an apostrophe where it would be a formula', () => {
  const cells = parseCsv(
    formulaPayloads.map((payload) => formatCsvRecord(['before', payload, 'after'])).join(''),
  )
  const withoutApostrophes = (text = ''): string => text.replaceAll("'", '')
  for (const [index, payload] of formulaPayloads.entries()) {
    const cell = cells[index]?.[1] as string
    expect(withoutApostrophes(cell)).toBe(withoutApostrophes(payload))
    expect([payload, isFormula(cell)]).toEqual([payload, false])
  }
  expect(formulaPayloads.filter(isFormula).length).toBeGreaterThan(15)
  const harmless = parseCsv(harmlessTexts.map((text) => formatCsvRecord(['before', text, 'after'])).join(''))
  expect(harmless.map((record) => record[1])).toEqual(harmlessTexts)
})

test('[audit-export.csv] no part of a cell is a formula to a spreadsheet that separates cells by semicolons or tabs', () => {
  // A spreadsheet with a different separator recognizes and removes quotes only at the start of a cell.
  const partsOf = (record: string): string[] =>
    record.split(/[;\t\r\n]/).map((part) => part.replace(/^[\s"]+/, ''))
  for (const payload of formulaPayloads) {
    const record = formatCsvRecord(['before', payload, 'after'])
    expect([record, partsOf(record).filter(isFormula)]).toEqual([record, []])
  }
  const asIs = formulaPayloads.map((payload) => `before,"${payload.replaceAll('"', '""')}",after`)
  expect(asIs.filter((record) => partsOf(record).some(isFormula)).length).toBeGreaterThan(10)
})

test('a long cell of separators and spaces takes no longer than others', () => {
  for (const text of [
    '; '.repeat(500_000),
    ' '.repeat(1_000_000),
    ';'.repeat(1_000_000),
    `;${'"'.repeat(1_000_000)}`,
  ])
    expect(formatCsvRecord([text]).length).toBeGreaterThanOrEqual(1_000_000)
})
