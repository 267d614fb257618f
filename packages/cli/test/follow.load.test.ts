// Tests that --follow prints every call once while the Manager is killed and started again, and while connections break.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ServiceProcess, startProcess } from '@manager/harness/process.ts'
import { expect, onTestFinished, test } from 'vitest'
import { startBlackholeProxy } from '../../manager/test/kit/blackhole-proxy.ts'
import { type Caller, seedCaller, seedPair } from '../../manager/test/kit/esb-calls.ts'
import { startProxy } from './kit/proxy.ts'
import { spawnSvc, useSvc } from './kit/svc.ts'

const { service, project, env, folder } = useSvc()
const random = Math.random
const durationMs = 45_000

/** Commits a call up to 40 s after its time. One call in three ends later. */
async function addCall(caller: Caller, id: string): Promise<void> {
  const lateMs = random() < 0.2 ? random() * 40_000 : random() * 100
  const opensMs = random() < 0.3 ? 200 + random() * 6_000 : 0
  await service.sql.query(
    `insert into esb_audit_logs (id, created_at, endpoint_id, machine_user_id, source_ip, method, path, target_url,
       response_status, duration_ms) values ($1, $2, $3, $4, '10.1.2.3', 'POST', '/orders', 'https://a.example/', $5, $6)`,
    [
      id,
      new Date(Date.now() - lateMs).toISOString(),
      caller.endpointId,
      caller.machineUserId,
      ...(opensMs > 0 ? [null, null] : [200, 5]),
    ],
  )
  if (opensMs === 0) return
  await sleep(opensMs)
  await service.sql.query('update esb_audit_logs set response_status = 200, duration_ms = 5 where id = $1', [
    id,
  ])
}

test('killed processes and broken connections lose no line and repeat no line', async () => {
  const caller = await seedCaller(service.sql, project)
  await seedPair(service.sql, caller)
  const options = { SVC_SHUTDOWN_DRAIN_DELAY_MS: '0' }
  let manager: ServiceProcess = await startProcess(service.database.url, options)
  const portOf = (): number => Number(new URL(manager.url).port)
  const wire = await startBlackholeProxy({ host: '127.0.0.1', port: portOf() })
  const proxy = await startProxy(`http://127.0.0.1:${wire.port}`)
  const args = ['calls', 'list', '-p', 'main', '-a', 'main-app', '--follow', '--json', '--limit', '1']
  const child = spawnSvc(args, { env: { ...env, SVC_URL: proxy.url, HOME: folder.path } })
  let [out, err] = ['', '']
  child.stdout?.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (err += chunk.toString()))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    manager.child.kill('SIGKILL')
    await proxy.close()
    await wire.close()
  })
  const printed = (): string[] =>
    out
      .split('\n')
      .slice(0, -1)
      .map((line) => (JSON.parse(line) as { id: string }).id)
  // The first printed call shows that the first read is complete.
  const [first = '', ...others] = Array.from({ length: 1_500 }, () => randomUUID())
  await addCall(caller, first)
  await expect.poll(printed).toEqual([first])

  const work: Promise<void>[] = []
  const breakConnections = async (): Promise<void> => {
    for (let round = 0; round < 3; round++) {
      await sleep(durationMs / 8)
      wire.reset()
      await sleep(durationMs / 12)
      manager.child.kill('SIGKILL')
      await manager.exit
      await sleep(1_500)
      manager = await startProcess(service.database.url, options)
      wire.retarget(portOf())
      if (round === 1) wire.blackhole()
    }
  }
  const breaking = breakConnections()
  for (const id of others) {
    work.push(addCall(caller, id))
    await sleep(durationMs / others.length)
  }
  await Promise.all([...work, breaking])
  await expect.poll(() => printed().length, { timeout: 120_000, message: err }).toBe(others.length + 1)
  // Two more sweeps must not print anything again.
  await sleep(22_000)
  expect(printed().toSorted()).toEqual([first, ...others].toSorted())
  expect(err.match(/The connection is lost/g)?.length ?? 0).toBeGreaterThanOrEqual(3)
  child.kill('SIGINT')
  expect((await child.ended).code).toBe(130)
})
