import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { readAccess } from './kubernetes-access.ts'
import { OrchestratorFailure } from './orchestrator.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'kubernetes-access-'))
const pem = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
const secret = 'the-token-nobody-may-see'
const options = { server: 'https://kubernetes.default.svc', serviceAccountFolder: folder }
const write = (name: string, text: string): void => writeFileSync(path.join(folder, name), text)
beforeEach(() => {
  write('ca.crt', pem)
  write('token', `${secret}\n`)
})
afterAll(() => rmSync(folder, { recursive: true }))

test('the service account of a pod is read from its folder', () => {
  const { server, tls, token } = readAccess(options)
  expect([server.origin, tls, token]).toEqual(['https://kubernetes.default.svc', { ca: pem }, secret])
  rmSync(path.join(folder, 'token'))
  expect(failureOf()).toContain('/token cannot be read (ENOENT)')
})

test('a token that was rotated is read again', () => {
  expect(readAccess(options).token).toBe(secret)
  write('token', 'another')
  expect(readAccess(options).token).toBe('another')
})

test.each([
  ['an empty token', 'token', '', '/token does not contain a valid token'],
  ['a token of several lines', 'token', `${secret}\n${secret}`, '/token does not contain a valid token'],
  ['a token that is too large', 'token', 'a'.repeat(1024 * 1024 + 1), '/token is larger than 1048576 bytes'],
  ['an authority that is too large', 'ca.crt', 'a'.repeat(1024 * 1024 + 1), '/ca.crt is larger than'],
])('%s is refused, without its value', (_what, name, text, message) => {
  write(name, text)
  expect(failureOf()).toContain(message)
  expect(failureOf()).not.toContain(secret)
})

test.each(['http://k8s.example', `https://user:${secret}@k8s.example`, 'k8s.example'])(
  'an API server at %s is refused',
  (server) => {
    const failure = failureOf({ ...options, server })
    expect(failure).toContain('orchestrator.api_server must be a URL of the form https://host:port')
    expect(failure).not.toContain(secret)
  },
)

function failureOf(given = options): string {
  try {
    readAccess(given)
  } catch (error) {
    if (error instanceof OrchestratorFailure) return error.message
    throw error
  }
  throw new Error('nothing was refused')
}
