// docs/evidence.md says what is so: its commands run, and its tables are those of the code and of the test of completeness.
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
const page = readFileSync(new URL('../../../docs/evidence.md', import.meta.url), 'utf8')
const section = (title: string): string => page.split(`## ${title}\n`)[1]?.split('\n## ')[0] ?? ''
/** The cells of the tables of a section, without their heads. */
const rowsOf = (title: string): string[][] =>
  section(title)
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| ---'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
const namesIn = (text = ''): string[] => [...text.matchAll(/`([a-z-]+)`/g)].map(([, name = '']) => name)

describe('docs/evidence.md', () => {
  test('its commands run as they stand there', async () => {
    const { token } = await createToken(service, admin)
    const folder = mkdtempSync(`${tmpdir()}/manager-evidence-`)
    // What the proxy adds.
    writeFileSync(`${folder}/.curlrc`, `header = "X-Proxy-Auth: ${proxySecret}"\n`)
    const commands = [...page.matchAll(/```sh\n([\s\S]*?)```/g)]
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
    const named = rowsOf('Which question, which name').flatMap(([, names]) => namesIn(names))
    expect(new Set(named)).toEqual(new Set(evidenceQueries.map(({ name }) => name)))
  })

  test('the table of rows is the one that the completeness of evidence is tested by', () => {
    const [head, ...rows] = rowsOf('Which rows each query holds')
    expect(head).toEqual(['row of the trail', 'query'])
    const untilOthers = rows.slice(
      0,
      rows.findIndex(([first]) => first === 'query'),
    )
    const written = Object.fromEntries(
      untilOthers.map(([kind = '', queries]) => [kind.replaceAll('`', ''), namesIn(queries)]),
    )
    const inNone = Object.fromEntries(Object.keys(inNoQuery).map((kind) => [kind, []]))
    expect(written).toEqual({ ...expectedQueries, ...inNone })
  })

  test('the kinds of failures are those of the code', () => {
    const kinds = rowsOf('Failed authentications').slice(1)
    expect(kinds.map(([kind = '']) => kind.replaceAll('`', ''))).toEqual([...failureKinds])
  })
})
