// Tests `manager backends list`.
import { beforeEach, describe, expect, test } from 'vitest'
import { testEnv } from '@manager/harness/test-env.ts'
import { backdateHeartbeat, register } from '@manager/harness/backends.ts'
import { runManager } from './kit/commands.ts'
import { useProject } from './kit/project.ts'
import { type SeededProject, seedMachineUser } from '@manager/harness/seed.ts'

const { service, project, other } = useProject({ withOther: true })
const backends = (...args: string[]) => runManager(['backends', ...args], testEnv(service.database.url))
beforeEach(() => service.sql.query('delete from backend_registrations'))

async function backend(of: SeededProject, host: string, version?: string) {
  const machine = await seedMachineUser(service.sql, of)
  const { body } = await register(service, machine.token, {
    application_id: of.applicationId,
    callback_url: `https://${host}/s3cret-path?s3cret-query`,
    version,
  })
  return { id: body.registered_id as string, token: body.token as string, machineUserId: machine.id }
}

describe('manager backends list', () => {
  test('shows people a table, without paths and tokens', async () => {
    const live = await backend(project, 'live.example.com:8443', '1.2.3')
    const stale = await backend(other, 'stale.example.com')
    await backdateHeartbeat(service, stale.id, '100 seconds')
    const { code, stdout, stderr } = await backends('list')
    expect([code, stderr]).toEqual([0, ''])
    const lines = stdout.split('\n').map((line) => line.replace(/\b\d+s\b/, 'Ns').split(/ {2,}/))
    expect(lines).toEqual([
      [
        'PROJECT',
        'APPLICATION',
        'ENVIRONMENT',
        'MACHINE USER',
        'CALLBACK HOST',
        'VERSION',
        'SILENT',
        'STATE',
      ],
      ['main', 'main-app', 'dev', 'seeded', 'live.example.com:8443', '1.2.3', 'Ns', 'live'],
      ['other', 'other-app', 'dev', 'seeded', 'stale.example.com', '-', 'Ns', 'stale'],
      [''],
    ])
    for (const secret of ['s3cret', live.token, stale.token]) expect(stdout).not.toContain(secret)
  })

  test('shows scripts one JSON object per backend', async () => {
    const { id } = await backend(project, 'live.example.com', '1.2.3')
    await backdateHeartbeat(service, id, '1000 seconds')
    const { stdout } = await backends('list', '--json')
    const { last_heartbeat, silent_seconds, ...rest } = JSON.parse(stdout)
    expect(rest).toEqual({
      id,
      project: 'main',
      application: 'main-app',
      environment: 'dev',
      machine_user: 'seeded',
      callback_host: 'live.example.com',
      version: '1.2.3',
      state: 'stale',
    })
    expect(new Date(last_heartbeat).toISOString()).toBe(last_heartbeat)
    expect(silent_seconds).toBeGreaterThanOrEqual(1_000)
  })

  test('shows those of one project alone, and says when there is none', async () => {
    await backend(project, 'live.example.com')
    expect((await backends('list', '--project', 'main', '--json')).stdout).toContain('live.example.com')
    expect(await backends('list', '--project', 'other')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'No backend is registered.\n',
    })
    expect(await backends('list', '--project', 'nowhere')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: no project has the slug nowhere\n',
    })
  })

  test('a version that somebody typed cannot steer the terminal', async () => {
    const { id } = await backend(project, 'live.example.com')
    const version = '1\u001b[2J\u009b2\u202e3\u2066\u061c\u200f'
    await service.sql.query('update backend_registrations set version = $2 where id = $1', [id, version])
    const steering = /[^\P{Cc}\n]|\p{Bidi_Control}/u
    const { stdout } = await backends('list')
    expect(stdout).not.toMatch(steering)
    expect(stdout).toContain(String.raw`1\u001b[2J\u009b2\u202e3\u2066\u061c\u200f`)
    // The JSON output is escaped too, but parsing it returns the original version.
    const lines = (await backends('list', '--json')).stdout
    expect(lines).not.toMatch(steering)
    const listed = lines
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { version: string })
    expect(listed.map((one) => one.version)).toContain(version)
  })
})
