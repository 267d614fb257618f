// Tests svc as a process: signals, pipes and shell completion.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { startProxy } from './kit/proxy.ts'
import { spawnSvc, svcAt, useSvc } from './kit/svc.ts'

const { service, env, folder, proxy } = useSvc()

test('Ctrl-C ends a login with 130 and nothing kept', async () => {
  const child = spawnSvc(['login', '--url', proxy.url], { env: { HOME: folder.path }, isTerminal: true })
  child.stdout?.on('data', (chunk: Buffer) => {
    if (chunk.toString().includes('Ctrl-C')) child.stdin?.write('\u0003')
  })
  const { code, out } = await child.ended
  expect([code, out]).toEqual([130, expect.stringMatching(/svc: Interrupted\.\r\n$/)])
})

test('Ctrl-D at a question is no', async () => {
  const args = ['tenants', 'delete', 'main-tenant', '-p', 'main']
  const child = spawnSvc(args, { env: { ...env, HOME: folder.path }, isTerminal: true })
  child.stdout?.on('data', (chunk: Buffer) => {
    if (chunk.toString().includes('[y/N]')) child.stdin?.write('\u0004')
  })
  const { code, out } = await child.ended
  expect([code, out]).toEqual([1, expect.stringMatching(/svc: Nothing was changed\.\r\n$/)])
})

test('a body that is too large is refused before its sender has ended', async () => {
  const child = spawnSvc(['esb', 'preview', 'any', '-p', 'main', '-a', 'main-app'], { env })
  // The process may exit before all output is written.
  child.stdin?.on('error', () => undefined)
  child.stdin?.write(Buffer.alloc(1_048_577, 'x'))
  expect(await child.ended).toEqual({ code: 2, out: '', err: 'svc: The body is larger than 1 MiB.\n' })
})

test('a file that does not say its size is bounded as well', async () => {
  const args = ['esb', 'preview', 'any', '-p', 'main', '-a', 'main-app', '--body', '/dev/zero']
  expect((await svcAt('/', args, { env })).err).toBe('svc: /dev/zero is larger than 1 MiB.\n')
})

test('a signal ends a request that hangs', async () => {
  let isHeld: () => void = () => undefined
  const held = new Promise<void>((resolve) => (isHeld = resolve))
  const hanging = await startProxy(service.url, () => {
    isHeld()
    return new Promise<void>(() => undefined)
  })
  try {
    const child = spawnSvc(['projects', 'list'], { env: { ...env, SVC_URL: hanging.url } })
    await held
    child.kill('SIGTERM')
    expect(await child.ended).toEqual({ code: 143, out: '', err: 'svc: Interrupted.\n' })
  } finally {
    await hanging.close()
  }
})

test('a reader that has seen enough ends it quietly', () => {
  const program = new URL('../src/svc.ts', import.meta.url).pathname
  const script = `set -o pipefail; '${process.execPath}' '${program}' completion bash | true; echo "code $?"`
  const options = { env: { PATH: process.env['PATH'] ?? '' }, encoding: 'utf8', stdio: 'pipe' } as const
  expect(execFileSync('bash', ['-c', script], options)).toBe('code 0\n')
})

test('no secret is among the words of the command line, and none is in what --help shows', async () => {
  const { out } = await svcAt('/', ['endpoints', 'create', '--help'], { env })
  expect(out).toContain('--auth-password-file <file>')
  expect(out).not.toMatch(/--auth-(password|token) /)
})

test('bash completes commands, aliases and options', async () => {
  const { out } = await svcAt('/', ['completion', 'bash'])
  const script = path.join(folder.path, 'completion.bash')
  writeFileSync(script, out)
  const complete = (...words: string[]): string[] => {
    const line = words.map((word) => `'${word}'`).join(' ')
    const program = `source '${script}'; COMP_WORDS=(svc ${line}); COMP_CWORD=${words.length}; _svc; printf '%s\\n' "\${COMPREPLY[@]}"`
    return execFileSync('bash', ['-c', program], { encoding: 'utf8' }).split('\n').filter(Boolean)
  }
  expect(complete('ten')).toEqual(['tenants', 'tenant'])
  expect(complete('pilet', 'pub')).toEqual(['publish'])
  expect(complete('tenants', 'create', 'acme', '--na')).toEqual(['--name'])
  expect(complete('--output', 'json', 'tri')).toEqual(['triggers', 'trigger'])
  expect(complete('trigger', 'runs', '--li')).toEqual(['--limit'])
  expect(complete('nothing-like-it')).toEqual([])
})

test('every shell gets every command', async () => {
  mkdirSync(path.join(folder.path, 'shells'))
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, out } = await svcAt('/', ['completion', shell])
    expect(code).toBe(0)
    for (const words of ['login', 'machine-users rotate', 'settings effective']) expect(out).toContain(words)
  }
  expect((await svcAt('/', ['completion', 'tcsh'])).code).toBe(2)
})
