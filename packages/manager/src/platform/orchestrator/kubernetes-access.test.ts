import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { apiServerOf, readAccess } from './kubernetes-access.ts'
import { OrchestratorFailure } from './orchestrator.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'kubernetes-access-'))
afterAll(() => rmSync(folder, { recursive: true }))

const pem = (name: string): string => `-----BEGIN ${name}-----\nAAAA\n-----END ${name}-----\n`
const write = (name: string, text: string): string => {
  writeFileSync(path.join(folder, name), text)
  return path.join(folder, name)
}

const secret = 'the-token-nobody-may-see'
type Changes = { cluster?: object; user?: object; root?: object }
function kubeconfig({ cluster = {}, user = { token: secret }, root = {} }: Changes = {}): string {
  const text = JSON.stringify({
    clusters: [
      { name: 'other', cluster: {} },
      { name: 'c', cluster: { server: 'https://k8s.example:6443', ...cluster } },
    ],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
    ...root,
  })
  return write('kubeconfig', text)
}
const read = (changes?: Changes) => readAccess({ kubeconfig: kubeconfig(changes), server: 'https://unused' })

describe('the API server', () => {
  test('is known without a credential', () => {
    const file = kubeconfig({ user: {} })
    expect(apiServerOf({ kubeconfig: file, server: 'https://unused' }).href).toBe('https://k8s.example:6443/')
    expect(apiServerOf({ kubeconfig: null, server: 'https://kubernetes.default.svc' }).href).toBe(
      'https://kubernetes.default.svc/',
    )
    expect(() => apiServerOf({ kubeconfig: `${folder}/none`, server: 'https://unused' })).toThrow(
      OrchestratorFailure,
    )
  })
})

describe('a kubeconfig', () => {
  test('with a token', () => {
    const { server, token, tls } = read({
      cluster: { 'certificate-authority-data': btoa(pem('CERTIFICATE')) },
    })
    expect([server.href, token, tls]).toEqual([
      'https://k8s.example:6443/',
      secret,
      { ca: pem('CERTIFICATE') },
    ])
  })

  test('as people write it, with files beside it that are read again each time', () => {
    write('ca.pem', pem('CERTIFICATE'))
    write('token', `${secret}\n`)
    const file = write(
      'written.yaml',
      `apiVersion: v1
kind: Config
current-context: x
contexts:
  - name: x
    context: { cluster: c, user: u }
clusters:
  - name: c
    cluster:
      server: https://k8s.example/clusters/a/
      certificate-authority: ca.pem
      tls-server-name: kubernetes
users:
  - name: u
    user: { tokenFile: token, token: not-this-one }
`,
    )
    const access = () => readAccess({ kubeconfig: file, server: 'https://unused' })
    expect(access().server.href).toBe('https://k8s.example/clusters/a')
    expect(access().tls).toEqual({ ca: pem('CERTIFICATE'), servername: 'kubernetes' })
    expect(access().token).toBe(secret)
    write('token', 'another')
    expect(access().token).toBe('another')
  })

  test('with a client certificate', () => {
    const user = {
      'client-certificate-data': btoa(pem('CERTIFICATE')),
      'client-key-data': btoa(pem('PRIVATE KEY')),
    }
    const { tls, token } = read({ user })
    expect([tls, token]).toEqual([{ cert: pem('CERTIFICATE'), key: pem('PRIVATE KEY') }, null])
  })

  test.each([
    [
      'a plugin',
      { user: { exec: { command: 'aws' } } },
      'has exec: plugins that run a program are not supported',
    ],
    ['a former plugin', { user: { 'auth-provider': { name: 'gcp' } } }, 'has auth-provider'],
    ['a password', { user: { username: 'u', password: secret } }, 'has username'],
    ['impersonation', { user: { token: secret, as: 'root' } }, 'has as'],
    [
      'unchecked certificates',
      { cluster: { 'insecure-skip-tls-verify': true } },
      'has insecure-skip-tls-verify',
    ],
    ['a proxy', { cluster: { 'proxy-url': 'http://proxy' } }, 'has proxy-url'],
    [
      'plain HTTP',
      { cluster: { server: 'http://k8s.example' } },
      'must name the API server as https://host:port',
    ],
    [
      'a password in the address',
      { cluster: { server: `https://u:${secret}@k8s.example` } },
      'must name the API server',
    ],
    ['no credentials', { user: {} }, 'has neither a token nor a client certificate'],
    [
      'half a client certificate',
      { user: { 'client-key-data': btoa(pem('PRIVATE KEY')) } },
      'without its certificate',
    ],
    [
      'no PEM',
      { user: { token: secret }, cluster: { 'certificate-authority-data': btoa(secret) } },
      'has no PEM text',
    ],
    ['a token with a line break', { user: { token: `${secret}\n${secret}` } }, 'holds no usable token'],
    ['no current context', { root: { 'current-context': undefined } }, 'names no current-context'],
    ['a context that is not there', { root: { 'current-context': 'y' } }, 'lacks the context'],
    ['a user that is not there', { root: { users: null } }, 'lacks the user'],
    ['a token file that is not there', { user: { tokenFile: 'gone' } }, 'cannot be read (ENOENT)'],
  ] satisfies [string, Changes, string][])(
    'with %s is refused, and nothing secret is quoted',
    (_, changes, message) => {
      const failure = failureOf(() => read(changes))
      expect(failure).toContain(message)
      expect(failure).not.toContain(secret)
    },
  )

  test.each([
    ['no YAML', `users: [${secret}\n  - {`, 'is no valid YAML'],
    ['too large', `# ${'a'.repeat(1024 * 1024)}`, 'is larger than'],
    ['empty', '', 'names no current-context'],
  ])('that is %s is refused', (_, text, message) => {
    const failure = failureOf(() => readAccess({ kubeconfig: write('bad', text), server: 'https://unused' }))
    expect(failure).toContain(message)
    expect(failure).not.toContain(secret)
  })
})

test('the service account of a pod is read from its folder', () => {
  write('ca.crt', pem('CERTIFICATE'))
  write('token', `${secret}\n`)
  const options = { kubeconfig: null, server: 'https://kubernetes.default.svc', serviceAccountFolder: folder }
  const { server, tls, token } = readAccess(options)
  expect([server.origin, tls, token]).toEqual([
    'https://kubernetes.default.svc',
    { ca: pem('CERTIFICATE') },
    secret,
  ])
  rmSync(path.join(folder, 'token'))
  expect(failureOf(() => readAccess(options))).toContain('/token cannot be read (ENOENT)')
})

function failureOf(read: () => unknown): string {
  try {
    read()
  } catch (error) {
    if (error instanceof OrchestratorFailure) return error.message
    throw error
  }
  throw new Error('nothing was refused')
}
