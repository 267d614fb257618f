// Tests the pages about evidence: the commands in the guide run, and the tables match the code and the completeness
// test.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { describe, expect, test } from 'vitest'
import { evidenceQueries } from '../src/features/evidence/queries.pure.ts'
import { failureKinds } from '../src/platform/credentials/auth-failures.ts'
import { expectedQueries, inNoQuery } from './evidence/expected.ts'
import { proxySecret } from '@manager/harness/callers.ts'
import { createToken } from '@manager/harness/credentials.ts'
import { useProject } from './kit/project.ts'

const { service, admin } = useProject()
const readDocs = (path: string): string =>
  readFileSync(new URL(`../../../docs/${path}`, import.meta.url), 'utf8')
const guide = readDocs('guides/auditors/answer-audit-questions.md')
const reference = readDocs('reference/evidence-queries.md')
const section = (page: string, title: string): string =>
  page.split(`## ${title}\n`)[1]?.split('\n## ')[0]?.trim() ?? ''
/** Returns the cells of the first table of a section, including its header. */
const rowsOf = (page: string, title: string): string[][] => {
  const table = section(page, title)
    .split('\n\n')
    .find((part) => part.startsWith('|'))
  const lines = table?.split('\n').filter((line) => !line.startsWith('| ---')) ?? []
  return lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}
const namesIn = (text = ''): string[] => text.split('`').filter((_, index) => index % 2 === 1)

describe('the pages about evidence', () => {
  test('its commands run as they stand there', async () => {
    const { token } = await createToken(service, admin)
    const folder = mkdtempSync(`${tmpdir()}/manager-evidence-`)
    // Add the header that the proxy would add.
    writeFileSync(`${folder}/.curlrc`, `header = "X-Proxy-Auth: ${proxySecret}"\n`)
    const commands = [...guide.matchAll(/```sh\n([\s\S]*?)```/g)]
      .map(([, text = '']) => text)
      .join('\n')
      .replace('https://manager.example.com', service.url)
      .replace('pat_…', token)
    const script = `set -eu\n${commands}`
    const output = await new Promise<string>((resolve, reject) => {
      execFile(
        'bash',
        ['-c', script],
        { cwd: folder, env: { ...process.env, CURL_HOME: folder } },
        (error, out) => (error === null ? resolve(out) : reject(error)),
      )
    })
    expect((JSON.parse(output) as { names: string[] }).names).toHaveLength(20)
    const saved = JSON.parse(readFileSync(`${folder}/access-grants.json`, 'utf8')) as Record<string, unknown>
    expect(saved).toMatchObject({ name: 'access-grants', from: '2026-01-01T00:00:00.000Z' })
    rmSync(folder, { recursive: true })
  })

  test('every query has a question, and no other name is there', () => {
    const named = rowsOf(guide, 'Which query answers which question?').flatMap(([, names]) => namesIn(names))
    expect(new Set(named)).toEqual(new Set(evidenceQueries.map(({ name }) => name)))
  })

  test('the table of rows is the one that the completeness of evidence is tested by', () => {
    const [head, ...rows] = rowsOf(reference, 'Audit rows of each query')
    expect(head).toEqual(['query', 'kinds of audit rows'])
    const listed = rows.map(([query, kinds]) => ({
      query: namesIn(query)[0] ?? 'none',
      kinds: namesIn(kinds),
    }))
    const unmarked = (kind: string): string => kind.split(',', 1).join('')
    // In the table, a kind without a suffix also covers all kinds with the same name and a suffix.
    const queriesOf = (kind: string): string[] =>
      listed
        .filter(({ kinds }) => kinds.includes(kind) || kinds.includes(unmarked(kind)))
        .map(({ query }) => query)
    const inNone = Object.keys(inNoQuery).map((kind): [string, string[]] => [kind, ['none']])
    const expected = [...Object.entries(expectedQueries), ...inNone]
    for (const [kind, queries] of expected)
      expect([kind, queriesOf(kind).toSorted()]).toEqual([kind, queries.toSorted()])
    const known = new Set(expected.flatMap(([kind]) => [kind, unmarked(kind)]))
    expect(listed.flatMap(({ kinds }) => kinds).filter((kind) => !known.has(kind))).toEqual([])
  })

  test('the kinds of failures are those of the code', () => {
    const kinds = rowsOf(reference, 'Failed authentications').slice(1)
    expect(kinds.map(([kind = '']) => kind.replaceAll('`', ''))).toEqual([...failureKinds])
  })
})
