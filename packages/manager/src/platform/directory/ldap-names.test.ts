// Tests that names of directory servers are resolved without the threads of `dns.lookup`, by the resolver of all
// outbound calls.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createCertificate } from '@manager/harness/certificates.ts'
import { type Slapd, startSlapd } from '@manager/harness/engines/slapd.ts'
import { lineCollector } from '../../../test/kit/app.ts'
import {
  createLdapCertificates,
  createTestDirectory,
  ldapOptions,
  personId,
  toLdif,
} from '../../../test/kit/ldap.ts'
import { type NameServer, startNameServer } from '../../../test/kit/name-server.ts'
import { createLog } from '../log/log.ts'
import { createMetrics } from '../metrics.ts'
import { createNameResolver } from '../outbound/names.ts'
import type { LdapOptions } from './ldap-directory.ts'

const { ca } = createLdapCertificates()
const server = createCertificate('directory', ['directory.example'], { issuer: ca })
const folder = mkdtempSync(path.join(tmpdir(), 'ldap-names-'))
const caFile = path.join(folder, 'ca.pem')
const unavailable = { code: 'unavailable', message: 'the user directory is not available; try again' }

let slapd: Slapd
let names: NameServer
const logLines: Record<string, unknown>[] = []

beforeAll(async () => {
  writeFileSync(caFile, ca.cert)
  slapd = await startSlapd({
    ldif: toLdif({ id: personId(1), uid: 'ann', cn: 'Ann Archer' }),
    tls: { ca, server },
  })
  names = await startNameServer({
    'directory.example': { addresses: ['127.0.0.1'] },
    'alias.example': { addresses: ['127.0.0.1'] },
    // Nothing listens at the first address.
    'several.example': { addresses: ['127.0.0.2', '127.0.0.1'] },
    'silent.example': { isSilent: true },
  })
})
afterAll(async () => {
  await slapd.close()
  await names.close()
  rmSync(folder, { recursive: true })
})
beforeEach(() => {
  logLines.length = 0
  names.questions.length = 0
})

const withName = (url: string, host: string): string => url.replace('127.0.0.1', host)
const listReasons = () => logLines.map(({ reason }) => reason)

function createDirectory(changes: Partial<LdapOptions>) {
  const lookup = createNameResolver({ servers: [names.address] }).createLookup('tests')
  return createTestDirectory(ldapOptions(slapd, { lookup, ...changes }), {
    log: createLog('info', lineCollector(logLines)),
    metrics: createMetrics('test'),
  })
}

test('a name leads to all of its addresses', async () => {
  for (const host of ['directory.example', 'several.example']) {
    const { namesOf } = createDirectory({ urls: [withName(slapd.url, host)] })
    expect(await namesOf('archer')).toEqual(['Ann Archer'])
    expect(names.questions).toContain(`A ${host}`)
  }
})

test('a certificate must be for the name in the URL, not for the address behind it', async () => {
  for (const isTls of [true, false]) {
    const encryption = { startTls: !isTls, caFile }
    const url = isTls ? slapd.tlsUrl : slapd.url
    const { namesOf } = createDirectory({ urls: [withName(url, 'directory.example')], encryption })
    expect(await namesOf('archer')).toEqual(['Ann Archer'])
    const alias = createDirectory({ urls: [withName(url, 'alias.example')], encryption })
    await expect(alias.search('archer')).rejects.toMatchObject(unavailable)
    expect(listReasons()).toEqual(['connecting failed (ERR_TLS_CERT_ALTNAME_INVALID)'])
    logLines.length = 0
  }
})

test('a name that does not exist fails the search', async () => {
  const { search } = createDirectory({ urls: [withName(slapd.url, 'unknown.example')] })
  await expect(search('archer')).rejects.toMatchObject(unavailable)
  expect(listReasons()).toEqual(['connecting failed (ENOTFOUND)'])
})

test('a name server that does not answer fails the search in time, and the next server is asked', async () => {
  const silent = withName(slapd.url, 'silent.example')
  const { search } = createDirectory({ urls: [silent], connectTimeoutMs: 100, requestTimeoutMs: 200 })
  await expect(search('archer')).rejects.toMatchObject(unavailable)
  expect(listReasons()).toEqual(['connecting timed out'])
  expect(names.questions).toContain('A silent.example')
  const { namesOf } = createDirectory({ urls: [silent, slapd.url] })
  expect(await namesOf('archer')).toEqual(['Ann Archer'])
})
