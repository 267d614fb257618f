// Tests the completion of commands, options and values: in bash, zsh and fish as a person types, and the hidden command
// that completes values.
import { existsSync, mkdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { ensureShells } from '@manager/harness/engines/install.ts'
import { seedMachineUser } from '@manager/harness/seed.ts'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { findPosition } from '../src/complete/position.ts'
import { createProgram } from '../src/program.ts'
import { startProxy } from './kit/proxy.ts'
import { type ShellName, shellCommands, startShell } from './kit/shell.ts'
import { svcAt, useSvc } from './kit/svc.ts'

const { service, project, env, folder, proxy } = useSvc()
/** A name that a careless script would execute. */
const hostileName = '$(touch pwned) `touch pwned`'
beforeAll(async () => {
  ensureShells()
  const machine = await seedMachineUser(service.sql, project)
  await service.sql.query('update machine_users set name = $2 where id = $1', [machine.id, hostileName])
}, 300_000)

let homes = 0
function newHome(): string {
  const home = path.join(folder.path, `home-${++homes}`)
  mkdirSync(home)
  return home
}
const setUp: Record<ShellName, string> = {
  bash: 'eval "$(svc completion bash)"',
  zsh: 'autoload -Uz compinit && compinit -D && eval "$(svc completion zsh)"',
  fish: 'svc completion fish | source',
}

describe.each(Object.keys(shellCommands) as ShellName[])('%s', (name) => {
  test('completes commands, options, choices, slugs and hostile names', async () => {
    const home = newHome()
    const shell = startShell(name, home, env)
    onTestFinished(shell.close)
    await shell.execute(setUp[name])
    await shell.complete('svc who', 'svc whoami')
    await shell.complete('svc tenants cre', 'svc tenants create')
    await shell.complete('svc tenants create x --nam', '--name')
    await shell.complete('svc projects list --output ya', '--output yaml')
    await shell.complete('svc apps list -p ma', 'svc apps list -p main')
    await shell.complete('svc apps list --project=ma', '--project=main')
    await shell.complete('svc endpoints list -p main -a main', '-a main-app')
    await shell.complete('svc tenants get -p main main-t', 'main main-tenant')
    await shell.complete('svc help varia', 'svc help variables')
    await shell.complete('svc machine-users get -p main -e dev \\$', /\\\$\\\(touch\\ pwned\\\)/)
    expect(existsSync(path.join(home, 'pwned'))).toBe(false)
  })
})

const complete = (home: string, words: readonly string[], more: Record<string, string> = {}) =>
  svcAt(home, ['__complete', ...words], { env: { ...env, ...more } })

test('values come from the options, the variables and the files of the user', async () => {
  const home = newHome()
  expect((await complete(home, ['tenants', 'get', ''], { SVC_PROJECT: 'main' })).out).toBe('main-tenant\n')
  expect((await complete(home, ['apps', 'enable', '-p', 'main', '--tenant', ''])).out).toBe('main-tenant\n')
  expect((await complete(home, ['machine-users', 'list', '-p', 'main', '-e', ''])).out).toBe(
    'dev\nqas\nrun\n',
  )
  expect((await complete(home, ['projects', 'list', '--profile', ''])).code).toBe(1)
  expect(await complete(home, ['esb', 'preview', 'x', '--body', ''])).toMatchObject({ code: 1, out: '' })
  expect(await complete(home, ['tenants', 'create', 'x', '--name', ''])).toMatchObject({ code: 1, out: '' })
  expect(await complete(home, ['help', 'tenants', 'cr'])).toMatchObject({ code: 0, out: 'create\n' })
})

test('the cache saves requests for a minute, is private, and is removed with the sign-in', async () => {
  const home = newHome()
  const words = ['tenants', 'get', '-p', 'main', '']
  expect((await complete(home, words)).out).toBe('main-tenant\n')
  const before = proxy.requests.length
  for (const prefix of ['', 'main', 'x']) await complete(home, [...words.slice(0, -1), prefix])
  expect(proxy.requests.length).toBe(before)
  const file = path.join(home, '.cache', 'svc', 'completion.json')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700)
  // Another token has other rights.
  await complete(home, words, { SVC_TOKEN: 'pat_aaaaaaaa_b' })
  expect(proxy.requests.length).toBeGreaterThan(before)
})

test('a Manager that does not answer stops the completion soon, and is not asked again immediately', async () => {
  const hanging = await startProxy(service.url, () => new Promise<void>(() => undefined))
  onTestFinished(hanging.close)
  const home = newHome()
  const words = ['apps', 'list', '-p', '']
  const first = await complete(home, words, { SVC_URL: hanging.url })
  expect(first).toEqual({ code: 1, out: '', err: '' })
  const { length } = hanging.requests
  expect(await complete(home, words, { SVC_URL: hanging.url })).toEqual(first)
  expect(hanging.requests.length).toBe(length)
})

test('nothing is printed to the terminal without a sign-in', async () => {
  expect(await svcAt(newHome(), ['__complete', 'apps', 'list', '-p', ''])).toEqual({
    code: 1,
    out: '',
    err: '',
  })
})

test('the word at the cursor is recognized', async () => {
  const program = await createProgram({} as Parameters<typeof createProgram>[0])
  const find = (...words: string[]) => {
    const { command, args, expects, current, wordStart } = findPosition(program, words)
    const expected =
      expects === null ? null : 'option' in expects ? expects.option.name() : `<${expects.argument.name()}>`
    return [command.name(), args.length, expected, current, wordStart]
  }
  expect(find('ten')).toEqual(['svc', 0, null, 'ten', ''])
  expect(find('tenants', 'get', 'ac')).toEqual(['get', 0, '<tenant>', 'ac', ''])
  expect(find('tenants', 'get', '-p', 'sh')).toEqual(['get', 0, 'project', 'sh', ''])
  expect(find('tenants', 'get', '--project=sh')).toEqual(['get', 0, 'project', 'sh', '--project='])
  expect(find('tenants', 'get', '--project', '=', 'sh')).toEqual(['get', 0, 'project', 'sh', ''])
  expect(find('tenants', 'get', '--project', '=')).toEqual(['get', 0, 'project', '', ''])
  expect(find('-o', 'json', 'tenants', 'list', '--output', '')).toEqual(['list', 0, 'output', '', ''])
  expect(find('tenants', 'delete', '--yes', 'ac')).toEqual(['delete', 0, '<tenant>', 'ac', ''])
  expect(find('tenants', 'delete', '--', '-x')).toEqual(['delete', 0, '<tenant>', '-x', ''])
  expect(find('tenants', 'get', 'acme', 'x')).toEqual(['get', 1, null, 'x', ''])
})
