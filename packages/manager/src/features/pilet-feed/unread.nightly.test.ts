// These tests send full-size bundles from a real process to clients that do not read. They check the memory
// use and the responses to other clients.
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Socket, connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { proxySecret } from '@manager/harness/callers.ts'
import { loadSize } from '@manager/harness/load-sizes.ts'
import { setLayer } from '../../../test/kit/pilet-rows.ts'
import { uploadPilet } from '@manager/harness/pilets.ts'
import { type ServiceProcess, startProcess } from '@manager/harness/process.ts'
import { type SeededProject, seedProject, seedUser } from '@manager/harness/seed.ts'

const mebibyte = 1_048_576
const size = 16 * mebibyte
const share = 64 * mebibyte
// In total, the bundles exceed the permitted memory growth, even at the default load size.
const names = Array.from({ length: loadSize(16, 24) }, (_, index) => `b${index}`)

let service: TestApp
let running: ServiceProcess
let busy: SeededProject
let other: SeededProject
beforeAll(async () => {
  service = await startTestApp()
  busy = await seedProject(service.sql, 'busy')
  other = await seedProject(service.sql, 'other')
  const admin = await seedUser(service.sql, 'admin', 'administrator')
  const upload = async (projectId: string, name: string): Promise<void> => {
    const stored = { projectId, name, version: '1.0.0', bytes: randomBytes(size) }
    expect((await uploadPilet(service, admin, stored)).status).toBe(200)
  }
  for (const name of names) await upload(busy.id, name)
  await upload(other.id, 'theirs')
  await setLayer(service.sql, busy, 'project', { modules: names })
  await setLayer(service.sql, other, 'project', { modules: ['theirs'] })
  running = await startProcess(service.database.url)
}, 120_000)
afterAll(async () => {
  running.child.kill('SIGTERM')
  await running.exit
  await service.close()
})

const secret = { 'x-proxy-auth': proxySecret }
const pathOf = (of: SeededProject, name: string): string =>
  `/pilet-bundle/${of.applicationId}/${of.id}/${name}/1.0.0`
const requestOf = (name: string): string =>
  `GET ${pathOf(busy, name)} HTTP/1.1\r\nhost: h\r\nx-proxy-auth: ${proxySecret}\r\n\r\n`
const load = async (of: SeededProject, name: string): Promise<{ status: number; length: number }> => {
  const response = await fetch(`${running.url}${pathOf(of, name)}`, { headers: secret })
  return { status: response.status, length: (await response.arrayBuffer()).byteLength }
}
const residentMb = (): number => {
  const text = readFileSync(`/proc/${running.child.pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(text)?.[1]) / 1_024
}
const sendBytes = async (): Promise<number> => {
  const text = await (await fetch(`${running.healthUrl}/metrics`)).text()
  return Number(/^svc_pilet_send_bytes (\d+)$/m.exec(text)?.[1])
}
/** Opens connections that request these bundles and read nothing. */
const beginUnread = (asked: readonly string[][]): Socket[] => {
  const { hostname, port } = new URL(running.url)
  return asked.map((each) => {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    socket.pause().write(each.map(requestOf).join(''))
    return socket
  })
}

test.each([
  ['one connection that asks for all', [names], size],
  ['a connection for each', names.map((name) => [name]), share],
])('unread bundles do not fill memory: %s', async (how, asked, expected) => {
  // The cache is filled first, so that it does not count as growth.
  for (const name of names.slice(0, 6)) expect((await load(busy, name)).status).toBe(200)
  const before = residentMb()
  const sockets = beginUnread(asked)
  await expect.poll(sendBytes, { timeout: 20_000 }).toBe(expected)
  let [highest, mostSent] = [before, 0]
  for (let look = 0; look < loadSize(30, 50); look++) {
    await sleep(100)
    highest = Math.max(highest, residentMb())
    if (look % 10 === 0) mostSent = Math.max(mostSent, await sendBytes())
  }
  process.stdout.write(
    `${names.length} unread bundles of 16 MiB, ${how}: +${(highest - before).toFixed(0)} MB resident, ${mostSent / mebibyte} MiB held\n`,
  )
  expect(mostSent).toBe(expected)
  expect(highest - before).toBeLessThan(200)
  expect(await load(other, 'theirs')).toEqual({ status: 200, length: size })
  for (const socket of sockets) socket.destroy()
  await expect.poll(sendBytes, { timeout: 20_000 }).toBe(0)
  for (const name of names.slice(-3)) expect(await load(busy, name)).toEqual({ status: 200, length: size })
})
