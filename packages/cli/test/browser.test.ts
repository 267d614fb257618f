// Tests when `svc login` opens a browser.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { decide } from '@manager/harness/cli-login.ts'
import { expect, test } from 'vitest'
import { findBrowserCommand, openBrowser } from '../src/browser.ts'
import type { Terminal } from '../src/terminal.ts'
import { svcAt, useSvc } from './kit/svc.ts'

const { service, admin, proxy, folder } = useSvc()
const find = (env: Record<string, string>, platform: NodeJS.Platform = 'linux', isTTY = true) =>
  findBrowserCommand(
    { env, stdin: { isTTY }, stderr: { isTTY } } as Pick<Terminal, 'env' | 'stdin' | 'stderr'>,
    platform,
  )

test('a browser opens only where a person sees it', () => {
  expect(find({ DISPLAY: ':0' })).toEqual(['xdg-open'])
  expect(find({ WAYLAND_DISPLAY: 'wayland-0' })).toEqual(['xdg-open'])
  expect(find({})).toBeNull()
  expect(find({}, 'darwin')).toEqual(['open'])
  expect(find({}, 'win32')).toEqual(['rundll32', 'url.dll,FileProtocolHandler'])
  expect(find({ DISPLAY: ':0', CI: 'true' })).toBeNull()
  expect(find({ CI: '1' }, 'darwin')).toBeNull()
  expect(find({ SSH_CONNECTION: '10.0.0.1 1 10.0.0.2 22' }, 'darwin')).toBeNull()
  expect(find({ SSH_TTY: '/dev/pts/1' })).toBeNull()
  expect(find({ SSH_TTY: '/dev/pts/1', DISPLAY: 'localhost:10.0' })).toEqual(['xdg-open'])
  expect(find({ DISPLAY: ':0' }, 'linux', false)).toBeNull()
})

/** Installs an xdg-open that writes its arguments to a file. */
function installOpener(name: string): { bin: string; opened: string } {
  const bin = path.join(folder.path, name)
  mkdirSync(bin)
  const opened = path.join(bin, 'opened')
  writeFileSync(
    path.join(bin, 'xdg-open'),
    `#!/bin/sh\nprintf '%s\\n' "$@" > '${opened}.part'\nmv '${opened}.part' '${opened}'\n`,
  )
  chmodSync(path.join(bin, 'xdg-open'), 0o755)
  return { bin, opened }
}

async function logIn(bin: string, args: readonly string[], more: Record<string, string> = {}) {
  const decisions: Promise<unknown>[] = []
  const onErr = (text: string): void => {
    const code = /code {5}([A-Z]{4}-[A-Z]{4})/.exec(text)?.[1]
    if (code !== undefined && decisions.length === 0) decisions.push(decide(service, admin, code, 'deny'))
  }
  const env = { PATH: `${bin}:/usr/bin:/bin`, DISPLAY: ':0', ...more }
  const ended = await svcAt(folder.path, ['login', '--url', proxy.url, ...args], {
    env,
    onErr,
    isTerminal: true,
  })
  await Promise.all(decisions)
  return ended
}

test.concurrent('login opens its address', async () => {
  const { bin, opened } = installOpener('opens')
  const { err } = await logIn(bin, [])
  await expect.poll(() => existsSync(opened)).toBe(true)
  const [address, ...others] = readFileSync(opened, 'utf8').trimEnd().split('\n')
  expect(err).toContain(`address  ${address}\n`)
  expect(err).toContain('The address is also open in your browser.\n')
  expect(others).toEqual([])
})

test.concurrent('login opens nothing with --no-browser, in CI, or without an opener', async () => {
  const { bin, opened } = installOpener('stays-closed')
  for (const [args, env] of [
    [['--no-browser'], {}],
    [[], { CI: 'true' }],
    [[], { PATH: '/nonexistent' }],
  ] as const) {
    const { err } = await logIn(bin, args, env)
    expect(err).not.toContain('open in your browser')
    expect(err).toContain('The login was denied in the browser.')
  }
  expect(existsSync(opened)).toBe(false)
})

test('only HTTP addresses are opened', async () => {
  const { bin, opened } = installOpener('hostile')
  const terminal = {
    env: { PATH: `${bin}:/bin`, DISPLAY: ':0' },
    stdin: { isTTY: true },
    stderr: { isTTY: true },
  }
  for (const address of ['file:///etc/passwd', '--help', 'javascript:alert(1)', 'no address'])
    expect(await openBrowser(terminal as unknown as Terminal, address)).toBe(false)
  expect(existsSync(opened)).toBe(false)
})
