// Runs the commands and settings of docs/guides/operators/connect-a-directory.md against a real OpenLDAP server. Only
// addresses and folders differ.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Slapd, slapdReader, startSlapd } from '@manager/harness/engines/slapd.ts'
import { seedUser } from '@manager/harness/seed.ts'
import { runManager } from './kit/commands.ts'
import { minimalEnv } from './kit/config.ts'
import { startTestApp } from './kit/app.ts'
import { blocksOf, readPage } from './kit/doc-page-runner.ts'
import { createShell } from './kit/doc-shell.ts'
import { createLdapCertificates, personId, toLdif } from './kit/ldap.ts'

const page = readPage('guides/operators/connect-a-directory.md')
const folder = mkdtempSync(path.join(tmpdir(), 'docs-directory-'))
const tls = createLdapCertificates()
let slapd: Slapd

beforeAll(async () => {
  const ann = { id: personId(1), uid: 'ann', cn: 'Ann Archer', mail: 'ann@example.org' }
  slapd = await startSlapd({ ldif: toLdif(ann), tls })
  chmodSync(folder, 0o755)
  writeFileSync(path.join(folder, 'ldap-ca.pem'), tls.ca.cert)
})
afterAll(async () => {
  await slapd.close()
  rmSync(folder, { recursive: true })
})

/** Returns the text with the addresses and folders of this test. */
const localize = (text: string): string =>
  text
    .replaceAll(/ldaps:\/\/ldap-[12]\.example\.org/g, slapd.tlsUrl)
    .replaceAll(/\/run\/secrets|\/etc\/ssl/g, folder)
const textsOf = (language: string): string[] =>
  blocksOf(page)
    .filter((block) => block.language === language)
    .map(({ text }) => localize(text.replaceAll(/^ {3}/gm, '')))
const readEnv = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .trim()
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )

/** Returns the exit code of `config check`, and the last line that it prints. */
async function checkConfig(env: Record<string, string>): Promise<[number | null, string | undefined]> {
  const { code, stdout } = await runManager(['config', 'check'], { ...minimalEnv, ...env })
  return [code, stdout.trim().split('\n').at(-1)]
}

test('the commands print what the page shows, and the settings find the person', async () => {
  const shell = createShell(folder, { ...process.env, LDAP_PASSWORD: slapdReader.password })
  const [store = '', search = '', check = ''] = textsOf('sh')
  const [printed = ''] = textsOf('text')
  await shell(store)
  const linesOf = (text: unknown) => String(text).trim().split('\n').toSorted()
  expect(linesOf((await shell(search)).body)).toEqual(linesOf(printed))

  const env = readEnv(textsOf('ini')[0] ?? '')
  expect(check.trim()).toBe('npm run --silent manager -- config check')
  expect(await checkConfig(env)).toEqual([0, 'The configuration is valid.'])
  const service = await startTestApp({ env })
  try {
    const admin = await seedUser(service.sql, 'admin', 'administrator')
    const { data, error } = await service.query(admin, textsOf('graphql')[0] ?? '')
    expect(error).toBeNull()
    expect(data.userProviderSearch).toEqual([
      { id: personId(1), displayName: 'Ann Archer', email: 'ann@example.org', disabled: false },
    ])
  } finally {
    await service.close()
  }
})

test('the settings for Active Directory are accepted', async () => {
  const [base = '', changes = ''] = textsOf('ini')
  const env = { ...readEnv(base), ...readEnv(changes) }
  expect(Object.keys(readEnv(changes))).toHaveLength(8)
  expect(await checkConfig(env)).toEqual([0, 'The configuration is valid.'])
})
