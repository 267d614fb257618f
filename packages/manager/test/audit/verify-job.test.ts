// Tests the metrics of the verification job, and that it logs each finding once.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { appendRows, sealAll, tamper } from '../kit/trail.ts'

const chainId = '01a1dce9-d14b-710f-8362-6ebef3620ecb'
let service: TestApp
beforeEach(async () => {
  service = await startTestApp()
})
afterEach(() => service.close())

const run = (app = service) => app.app.schedules.find(({ name }) => name === 'audit-verify')?.run()
const metric = async (name: string, app = service): Promise<string | undefined> =>
  (await app.world.metrics.registry.metrics()).split('\n').find((line) => line.startsWith(`${name} `))
const findings = (app = service) => app.logLines.filter((line) => 'finding' in line)

test('shows nothing before it has run, then 1 and how far it is, then 0 and says once what is broken', async () => {
  await appendRows(service, chainId, 5)
  await sealAll(service)
  expect([await metric('svc_audit_chain_ok'), await metric('svc_audit_chain_verified_seq')]).toEqual([
    undefined,
    undefined,
  ])
  await run()
  expect([await metric('svc_audit_chain_ok'), await metric('svc_audit_chain_verified_seq')]).toEqual([
    'svc_audit_chain_ok 1',
    'svc_audit_chain_verified_seq 1',
  ])
  await tamper(service, "update audit_logs set description = 'x' where seq = 3")
  await appendRows(service, null, 1)
  await sealAll(service)
  for (let runs = 0; runs < 3; runs++) await run()
  expect([await metric('svc_audit_chain_ok'), await metric('svc_audit_chain_verified_seq')]).toEqual([
    'svc_audit_chain_ok 0',
    'svc_audit_chain_verified_seq 1',
  ])
  expect(findings()).toMatchObject([
    { level: 'error', finding: `chain ${chainId} is broken at seq 3: row 3 was changed` },
  ])
  // Another process also reports the stored finding, even though it did not detect the problem itself.
  const other = await startTestApp({ database: service.database })
  await run(other)
  expect([await metric('svc_audit_chain_ok', other), findings(other).length]).toEqual([
    'svc_audit_chain_ok 0',
    1,
  ])
  await other.close()
})
