// Round trips of large and random projects through export and apply.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { connect } from '@manager/client'
import { expect, test } from 'vitest'
import type { Step } from './kit/apply.ts'
import { exportText } from './kit/export.ts'
import { RandomProject } from './kit/random-project.ts'
import { expectRoundTrip } from './kit/round-trip.ts'
import { useSvc } from './kit/svc.ts'

const kit = useSvc()
const { svc, env, folder } = kit
const createConnection = () => connect({ url: env['SVC_URL'] ?? '', token: env['SVC_TOKEN'] ?? '' })
const runShell = promisify(execFile)
const program = new URL('../src/svc.ts', import.meta.url).pathname

test('an export of 1,000 objects that is piped to apply changes nothing', async () => {
  const sizes = { apps: 10, tenants: 150, packs: 6, users: 30, endpoints: 15, triggers: 5, links: 3 }
  const project = new RandomProject(createConnection(), 1, { sizes, hasFixedSize: true })
  await project.create('large')
  expect(project.objectCount).toBeGreaterThan(1_000)
  const command = `'${process.execPath}' '${program}'`
  const script = `set -o pipefail; ${command} export -p large | ${command} apply -f - --prune --output json`
  const options = { env: { ...env, PATH: process.env['PATH'] ?? '', HOME: folder.path }, maxBuffer: 64e6 }
  const { stdout } = await runShell('bash', ['-c', script], options)
  const { steps, applied } = JSON.parse(stdout) as { steps: Step[]; applied: number }
  expect(applied).toBe(0)
  expect(steps.length).toBeGreaterThan(1_000)
  expect(steps.filter(({ action }) => action !== 'unchanged')).toEqual([])
  const text = await exportText(svc, 'large')
  expect((await svc(['apply', '-f', '-'], { input: text })).out).toMatch(/\nNothing to do\.\n$/)
  expect(await svc(['diff', '-f', '-', '--prune'], { input: text })).toMatchObject({ code: 0, out: '' })
  for (const secret of project.secrets) expect(text.includes(secret)).toBe(false)
})

test('30 random projects return from an empty project with the same text', async () => {
  for (let seed = 1_001; seed <= 1_030; seed++) await expectRoundTrip(kit, seed)
})
