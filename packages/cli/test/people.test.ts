// Tests the commands for people: how a person is named, members, invitations and permissions.
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { createToken } from '@manager/harness/credentials.ts'
import { useSvc } from './kit/svc.ts'

const { service, folder, svc, json, person, member } = useSvc()
const inMain = ['-p', 'main']
const file = (name: string): string => path.join(folder.path, name)
const tokenOf = async (one: Person) => ({ SVC_TOKEN: (await createToken(service, one)).token })

test('a person is named by e-mail address, user name or id, wherever a command needs one', async () => {
  const ann = await person('ann')
  await service.sql.query("update users set external_username = 'ann-1' where id = $1", [ann.id])
  for (const name of [ann.email ?? '', 'ann-1', ann.id]) {
    expect(await json(['users', 'get', name])).toMatchObject({ id: ann.id })
    expect((await svc(['members', 'add', name, '--role', 'tester', ...inMain])).code).toBe(0)
    expect(await json(['members', 'update', name, '--role', 'developer', ...inMain])).toMatchObject({
      role: 'developer',
      user: { id: ann.id },
    })
    expect(await json(['access', 'of', name, ...inMain])).toMatchObject([{ role: 'developer' }])
    expect((await svc(['audit', 'export', '--user', name, ...inMain])).code).toBe(0)
    expect((await svc(['members', 'remove', name, ...inMain, '--yes'])).code).toBe(0)
  }
  const unknown = await svc(['members', 'add', 'eve@example.com', '--role', 'tester', ...inMain])
  expect([unknown.code, unknown.err]).toEqual([
    4,
    'svc: No person has the e-mail address or user name eve@example.com. Search with: svc users find <part of a name>. To invite a person, run: svc invitations create eve@example.com --role <role>\n',
  ])
  const removed = await svc(['members', 'remove', ann.id, ...inMain, '--yes'])
  expect([removed.code, removed.err]).toEqual([
    4,
    `svc: ${ann.id} is not a member of project main. See: svc members list\n`,
  ])
})

test('a member belongs to a project, a tenant or an app, but not to two of them', async () => {
  const { code, err } = await svc(['members', 'list', ...inMain, '-t', 'main-tenant', '-a', 'main-app'])
  expect([code, err]).toEqual([
    2,
    'svc: Both a tenant and an app are given. Pass either --tenant or --app.\n',
  ])
})

test('the link of an invitation is in a file of mode 600 and nowhere else, and its person can accept it', async () => {
  const ben = await person('ben')
  const create = ['invitations', 'create', 'BEN@example.com', '--role', 'developer', ...inMain]
  const link = file('ben.link')
  const created = await svc([...create, '--link-file', link])
  expect(created.out).toBe(
    `Invited BEN@example.com to project main as developer. The link is in ${link}. Send the link to the person.\n`,
  )
  const text = readFileSync(link, 'utf8').trim()
  expect([text, statSync(link).mode & 0o777]).toEqual([expect.stringMatching(/#inv_/), 0o600])
  const listed = await svc(['invitations', 'list', ...inMain, '--json'])
  for (const { out, err } of [created, listed]) expect(out + err).not.toContain(text.split('#')[1])
  // An existing file may contain the link of an earlier invitation.
  expect((await svc([...create, '--link-file', link])).code).toBe(2)

  const stranger = await tokenOf(await person('stranger'))
  const accept = ['invitations', 'accept', '--link-file', link]
  expect((await svc([...accept, '--yes'], { env: stranger })).code).toBe(4)
  const env = await tokenOf(ben)
  const accepted = await svc(accept, { env, isTerminal: true, input: 'y\n' })
  expect([accepted.out, accepted.err]).toEqual([
    'Joined Project main as developer.\n',
    expect.stringContaining('Join Project main as developer, invited by admin (admin@example.com)? [y/N] '),
  ])
  expect(await json(['invitations', 'list', ...inMain, '--state', 'ACCEPTED'])).toMatchObject([
    { acceptor: { id: ben.id } },
  ])
  const revoked = await svc(['invitations', 'revoke', 'ben@example.com', ...inMain, '--yes'])
  expect([revoked.code, revoked.err]).toEqual([
    4,
    'svc: ben@example.com has no open invitation to project main. See: svc invitations list --state OPEN\n',
  ])
  writeFileSync(file('text'), 'no link <b>\n')
  expect((await svc(['invitations', 'accept', '--link-file', file('text'), '--yes'])).err).toBe(
    `svc: ${file('text')} does not contain the link of an invitation.\n`,
  )
})

test('with two open invitations of a person, the id decides', async () => {
  for (const name of ['one', 'two']) {
    const args = ['invitations', 'create', 'dora@example.com', '--role', 'tester', '--link-file', file(name)]
    expect((await svc([...args, ...inMain])).code).toBe(0)
  }
  const revoke = (named: string) => svc(['invitations', 'revoke', named, ...inMain, '--yes'])
  const { code, err } = await revoke('dora@example.com')
  const [, id = ''] = /has 2 open invitations\. Use an id: ([0-9a-f-]{36}), /.exec(err) ?? []
  expect([code, (await revoke(id)).code, (await revoke('dora@example.com')).code]).toEqual([2, 0, 0])
})

test('a deactivated person is rejected until an administrator reactivates them', async () => {
  const env = await tokenOf(await person('dan'))
  const whoami = async () => (await svc(['whoami'], { env })).code
  expect(await whoami()).toBe(0)
  expect((await svc(['users', 'deactivate', 'dan@example.com', '--yes'])).out).toBe(
    'Deactivated user dan@example.com.\n',
  )
  expect(await whoami()).toBe(3)
  expect((await svc(['users', 'reactivate', 'dan@example.com'])).out).toBe(
    'Reactivated user dan@example.com.\n',
  )
  expect(await whoami()).toBe(0)
})

test('whoami --can lists permissions, and checks one of them', async () => {
  const env = await tokenOf(await member('reader', 'readonly'))
  const can = (...args: string[]) => svc(['whoami', '--can', ...args, '--json'], { env })
  expect(JSON.parse((await can(...inMain)).out)).toMatchObject({
    scope: 'project main',
    role: 'readonly',
    permissions: expect.arrayContaining(['PROJECT_READ']),
  })
  expect((await can('project_read', ...inMain)).code).toBe(0)
  expect(await can('project_write', ...inMain)).toEqual({
    code: 1,
    out: '',
    err: 'svc: You do not have PROJECT_WRITE in project main.\n',
  })
  expect(JSON.parse((await can(...inMain, '-t', 'main-tenant')).out)).toMatchObject({
    scope: 'tenant main-tenant',
  })
  expect(JSON.parse((await can()).out)).toMatchObject({ scope: 'the installation', role: 'user' })
})
