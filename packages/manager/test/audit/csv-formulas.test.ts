// An audited person cannot place a formula in a CSV export. csv-formulas.nightly.test.ts lets LibreOffice judge.
import { expect, test } from 'vitest'
import { csvRecord } from '../../src/platform/lists/csv.ts'
import { headersOf } from '../kit/app.ts'
import { askExport, parseCsv } from '../kit/audit-export.ts'
import { formulaPayloads } from '../kit/formula-payloads.ts'
import { useProject } from '../kit/project.ts'

const { service, admin } = useProject()
/** Spreadsheets evaluate a cell that starts like this; a cell with a leading space is text to them. */
const isFormula = (cell: string): boolean => /^[=+\-@＝＋－＠\t\r\n]/u.test(cell)

test('[audit-export.csv] CSV follows RFC 4180, and every cell that would be a formula starts with an apostrophe', async () => {
  for (const [index, payload] of formulaPayloads.entries()) {
    // A header carries only these characters; csvRecord below gets the whole payload.
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
  const cells = parseCsv(formulaPayloads.map((payload) => csvRecord(['before', payload, 'after'])).join(''))
  for (const [index, payload] of formulaPayloads.entries()) {
    expect([payload, `'${payload}`]).toContain(cells[index]?.[1])
    expect(isFormula(cells[index]?.[1] as string)).toBe(false)
  }
  expect(formulaPayloads.filter(isFormula).length).toBeGreaterThan(15)
})
