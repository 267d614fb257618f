// Tests the directory `ldap` with a real OpenLDAP server.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createCertificate } from '@manager/harness/certificates.ts'
import { type Slapd, slapdBase, slapdReader, startSlapd } from '@manager/harness/engines/slapd.ts'
import { lineCollector } from '../../../test/kit/app.ts'
import {
  type LdapPerson,
  createLdapCertificates,
  createTestDirectory,
  ldapOptions,
  personId,
  toLdif,
} from '../../../test/kit/ldap.ts'
import { createLog } from '../log/log.ts'
import { createMetrics } from '../metrics.ts'
import { encodeGuid } from './ldap-people.ts'
import type { LdapOptions } from './ldap-directory.ts'

const person = (number: number, uid: string, cn: string, more: Partial<LdapPerson> = {}): LdapPerson => ({
  id: personId(number),
  uid,
  cn,
  mail: `${uid}@example.org`,
  ...more,
})

const people: LdapPerson[] = [
  person(1, 'ann', 'Ann Archer', {
    more: { objectGUID: encodeGuid(personId(101)), userAccountControl: '512' },
  }),
  person(2, 'bob', 'Bob Baker', {
    mail: 'robert@corp.example',
    more: { objectGUID: encodeGuid(personId(102)), userAccountControl: '514', accountDisabled: 'TRUE' },
  }),
  person(3, 'zoe', 'Zoë Öztürk', { more: { accountDisabled: 'FALSE', sAMAccountName: 'CORP-zoe' } }),
  person(4, 'star', 'A * (star)\\'),
  person(5, 'hopper', 'Grace Hopper', { more: { displayName: 'Amazing Grace' } }),
  ...Array.from({ length: 12 }, (_, n) => person(20 + n, `crowd${n}`, `Crowd Member ${n}`)),
]

const certificates = createLdapCertificates()
const folder = mkdtempSync(path.join(tmpdir(), 'ldap-ca-'))
const caFile = path.join(folder, 'ca.pem')
const otherCaFile = path.join(folder, 'other.pem')

let slapd: Slapd
const logLines: Record<string, unknown>[] = []
const metrics = createMetrics('test')

const createDirectory = (changes: Partial<LdapOptions> = {}) => {
  metrics.registry.clear()
  return createTestDirectory(ldapOptions(slapd, changes), {
    log: createLog('info', lineCollector(logLines)),
    metrics,
  })
}
const sampleOf = async (line: string): Promise<boolean> =>
  (await metrics.registry.metrics()).includes(`${line}\n`)
const refusal = {
  code: 'unavailable',
  message: 'the user directory is not available; try again',
  retryAfterSeconds: 5,
}

beforeAll(async () => {
  writeFileSync(caFile, certificates.ca.cert)
  writeFileSync(otherCaFile, createCertificate('Other CA', []).cert)
  slapd = await startSlapd({ ldif: people.map(toLdif).join(''), tls: certificates })
})
afterAll(async () => {
  await slapd.close()
  rmSync(folder, { recursive: true })
})

describe('a search', () => {
  test('finds people by a part of name, user name or e-mail, whatever its case', async () => {
    const { namesOf } = createDirectory()
    for (const text of ['ann arch', 'ARCHER', 'nn a', 'ann@exam'])
      expect(await namesOf(text)).toEqual(['Ann Archer'])
    expect(await namesOf('robert')).toEqual(['Bob Baker'])
    expect(await namesOf('öztürk')).toEqual(['Zoë Öztürk'])
    expect(await namesOf('nobody')).toEqual([])
  })

  test('with a text shorter than three characters finds starts only', async () => {
    const { namesOf } = createDirectory()
    expect(await namesOf('bo')).toEqual(['Bob Baker'])
    expect(await namesOf('er')).toEqual([])
    expect(await namesOf('zo')).toEqual(['Zoë Öztürk'])
  })

  test('returns the fields of a user, sorted by name, with filters and pages', async () => {
    const { search, namesOf } = createDirectory()
    expect(await search('archer')).toEqual([
      {
        id: personId(1),
        username: 'ann',
        email: 'ann@example.org',
        displayName: 'Ann Archer',
        disabled: false,
      },
    ])
    const crowd = await namesOf('crowd')
    expect(crowd).toHaveLength(12)
    expect(crowd.slice(0, 3)).toEqual(['Crowd Member 0', 'Crowd Member 1', 'Crowd Member 10'])
    expect(await namesOf('crowd', { pagination: { limit: 10, offset: 10 } })).toEqual([
      'Crowd Member 8',
      'Crowd Member 9',
    ])
    expect(await namesOf('crowd', { filters: [{ field: 'email', value: 'CROWD11' }] })).toEqual([
      'Crowd Member 11',
    ])
    const [last] = await namesOf('crowd', { order: [{ field: 'username', direction: 'DESC' }] })
    expect(last).toBe('Crowd Member 9')
  })

  test('reads at most the configured number of entries', async () => {
    expect(await createDirectory({ maxResults: 5 }).namesOf('crowd')).toHaveLength(5)
    expect(await createDirectory({ maxResults: 1 }).namesOf('archer')).toHaveLength(1)
    const countWith = async (maxResults: number) =>
      (await createDirectory({ maxResults }).searchPage('crowd')).listCount
    expect(await countWith(11)).toEqual({ total: 11, isExact: false })
    expect(await countWith(12)).toEqual({ total: 12, isExact: true })
  })

  test('uses the attribute map, the user filter and the search filter', async () => {
    const attributes = {
      id: 'entryUUID',
      username: 'sAMAccountName',
      email: 'mail',
      name: 'displayName',
      disabled: null,
    }
    const mapped = createDirectory({ attributes })
    expect(await mapped.search('amazing')).toMatchObject([
      { displayName: 'Amazing Grace', username: 'hopper@example.org' },
    ])
    expect(await mapped.search('corp-z')).toMatchObject([{ username: 'CORP-zoe', displayName: '' }])
    const narrow = createDirectory({
      userFilter: '(&(objectClass=person)(!(uid=ann)))',
      searchFilter: '(cn={pattern})',
    })
    expect(await narrow.namesOf('archer')).toEqual([])
    expect(await narrow.namesOf('robert')).toEqual([])
    expect(await narrow.namesOf('baker')).toEqual(['Bob Baker'])
    expect(await createDirectory({ searchFilter: '(uid={text})' }).namesOf('ann')).toEqual(['Ann Archer'])
  })

  test('shows disabled accounts', async () => {
    const disabledOf = async (disabled: string | null) => {
      const { attributes } = ldapOptions(slapd)
      const { search } = createDirectory({ attributes: { ...attributes, disabled } })
      return [...(await search('archer')), ...(await search('baker')), ...(await search('zoe'))].map(
        (one) => one.disabled,
      )
    }
    expect(await disabledOf(null)).toEqual([false, false, false])
    expect(await disabledOf('accountDisabled')).toEqual([false, true, false])
    expect(await disabledOf('userAccountControl')).toEqual([false, true, false])
  })

  test('reads ids of Active Directory, and leaves entries without an id out', async () => {
    const { attributes } = ldapOptions(slapd)
    const { search, find } = createDirectory({ attributes: { ...attributes, id: 'objectGUID' } })
    expect((await search('archer')).map(({ id }) => id)).toEqual([personId(101)])
    expect(await search('crowd')).toEqual([])
    expect(await sampleOf('svc_directory_entries_ignored_total 12')).toBe(true)
    expect((await find(personId(102)))?.displayName).toBe('Bob Baker')
    expect(await find(personId(1))).toBeNull()
  })

  test('treats every character of the text as a character', async () => {
    const { search, namesOf } = createDirectory()
    for (const text of ['A * (', '(star)', 'r)\\', '* ('])
      expect(await namesOf(text)).toEqual(['A * (star)\\'])
    const injections = [
      '***',
      '*)(uid=*',
      ')(uid=*',
      '*)(|(objectClass=*)',
      '*))(|(objectClass=*',
      'ann)(|(uid=*))',
      '\\00\\00',
      '\\2a\\2a',
      '\\*\\*',
      '(&(uid=*))',
      '{text}',
      '{pattern}',
      '%2a%2a',
      '＊＊＊',
      'ann*',
      'a*n',
      '\\zz\\zz',
      '\u202eann',
      '😀😀😀',
      `*${'('.repeat(150)}`,
      'x'.repeat(200),
      'cn=*',
      '=*)',
      '!(uid=x)',
      '\ud800\ud800\ud800',
    ]
    for (const text of injections) expect([text, await search(text)]).toEqual([text, []])
  })
})

describe('find', () => {
  test('returns the person with this id, and null for any other id', async () => {
    const { find } = createDirectory()
    expect(await find(personId(2))).toMatchObject({ id: personId(2), username: 'bob' })
    expect(await find(personId(999))).toBeNull()
    expect(await createDirectory({ userFilter: '(uid=ann)' }).find(personId(2))).toBeNull()
  })
})

describe('encryption', () => {
  test('with ldaps:// or StartTLS requires a certificate of the configured CA', async () => {
    const tls = { urls: [slapd.tlsUrl], encryption: { startTls: false, caFile } }
    const startTls = { encryption: { startTls: true, caFile } }
    for (const options of [tls, startTls]) {
      expect(await createDirectory(options).namesOf('archer')).toEqual(['Ann Archer'])
      for (const file of [null, otherCaFile]) {
        logLines.length = 0
        const encryption = { ...options.encryption, caFile: file }
        await expect(createDirectory({ ...options, encryption }).search('archer')).rejects.toMatchObject(
          refusal,
        )
        expect(logLines).toMatchObject([
          { level: 'warn', reason: 'connecting failed (SELF_SIGNED_CERT_IN_CHAIN)' },
        ])
      }
    }
  })

  test('requires a certificate for the name in the URL', async () => {
    const other = createCertificate('directory', ['other.example'], { issuer: certificates.ca })
    const misnamed = await startSlapd({ ldif: '', tls: { ca: certificates.ca, server: other } })
    try {
      logLines.length = 0
      const options = { urls: [misnamed.tlsUrl], encryption: { startTls: false, caFile } }
      await expect(createDirectory(options).search('archer')).rejects.toMatchObject(refusal)
      expect(logLines).toMatchObject([{ reason: 'connecting failed (ERR_TLS_CERT_ALTNAME_INVALID)' }])
    } finally {
      await misnamed.close()
    }
  })

  test('is never left out: without StartTLS or CA file on either side, the search fails', async () => {
    const plain = await startSlapd({ ldif: '' })
    try {
      for (const encryption of [
        { startTls: true, caFile },
        { startTls: false, caFile: `${folder}/missing.pem` },
      ]) {
        logLines.length = 0
        const urls = encryption.startTls ? [plain.url] : [slapd.tlsUrl]
        await expect(createDirectory({ urls, encryption }).search('archer')).rejects.toMatchObject(refusal)
        expect(logLines.map(({ reason }) => reason)).toEqual([
          encryption.startTls
            ? 'StartTLS returned LDAP result 2 (protocolError)'
            : 'the file in ldap.ca_bundle cannot be read (ENOENT)',
        ])
      }
    } finally {
      await plain.close()
    }
  })
})

describe('the account', () => {
  test('with a wrong password fails the search; the password is nowhere', async () => {
    logLines.length = 0
    const account = { dn: slapdReader.dn, password: 'a-wrong-password' }
    const { search } = createDirectory({ account, urls: [slapd.url, slapd.url] })
    const error = await search('archer').catch((reason: unknown) => reason)
    expect(error).toMatchObject(refusal)
    expect(logLines).toMatchObject([
      {
        server: slapd.url.slice('ldap://'.length),
        reason:
          'authentication returned LDAP result 49 (invalidCredentials, check ldap.bind_dn and ldap.bind_password)',
      },
    ])
    expect(JSON.stringify([logLines, error, (error as Error).stack])).not.toContain('a-wrong-password')
    expect(await sampleOf('svc_directory_request_duration_seconds_count{outcome="failed"} 1')).toBe(true)
  })

  test('is optional, but an anonymous search may find nothing', async () => {
    await expect(createDirectory({ account: null }).search('archer')).rejects.toMatchObject(refusal)
  })

  test('fails the search if the base does not exist', async () => {
    logLines.length = 0
    await expect(createDirectory({ baseDn: `ou=none,${slapdBase}` }).search('archer')).rejects.toMatchObject(
      refusal,
    )
    expect(logLines).toMatchObject([
      { reason: 'the search returned LDAP result 32 (noSuchObject, check ldap.base_dn)' },
    ])
  })
})
