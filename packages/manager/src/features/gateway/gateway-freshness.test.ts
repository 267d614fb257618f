// These tests check that once a change is confirmed, it applies to the next call in every process of the
// service.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { type Gateway, type Sent, startGateway } from '../../../test/kit/gateway.ts'
import { freshClient, machineCalls } from '../../../test/kit/machines.ts'
import { createMachine, throughProxy } from '@manager/harness/credentials.ts'

let gateway: Gateway
let second: TestApp
beforeAll(async () => {
  gateway = await startGateway()
  second = await startTestApp({ database: gateway.service.database })
})
afterAll(async () => {
  await second.close()
  await gateway.close()
})
beforeEach(() => gateway.upstream.reset())

const rounds = 10
/** Sends the call to both processes and returns their common status. */
async function statusIn(path: string, sent: Sent = {}): Promise<number> {
  const each = []
  for (const to of [second, gateway.service]) each.push((await gateway.send(path, { ...sent, to })).status)
  expect(each[1]).toBe(each[0])
  return each[0] ?? 0
}
const update = async (id: string, input: Record<string, unknown>): Promise<void> => {
  expect((await gateway.endpoints.update(gateway.admin, id, input)).error).toBeNull()
}
const endpoint = (input: Record<string, unknown> = {}) =>
  gateway.endpoint({ url: `${gateway.upstream.url}/first`, ...input })
const lastReceived = () => gateway.upstream.received.at(-1)

test('[esb.not-found] an endpoint is called until it is disabled, and again once it is enabled', async () => {
  const { id, path } = await endpoint()
  for (let round = 0; round < rounds; round++) {
    await update(id, { enabled: round % 2 === 1 })
    expect(await statusIn(path)).toBe(round % 2 === 1 ? 200 : 404)
  }
})

test('[esb.not-found] an endpoint that is made, renamed or deleted', async () => {
  const free = `/esb/${gateway.project.applicationId}/late`
  expect(await statusIn(free)).toBe(404)
  const { id } = await endpoint({ consumeURL: '/late', logLevel: 'NONE' })
  expect(await statusIn(free)).toBe(200)
  await update(id, { consumeURL: '/later' })
  expect([await statusIn(free), await statusIn(`${free}r`)]).toEqual([404, 200])
  expect((await gateway.endpoints.remove(gateway.admin, id)).error).toBeNull()
  expect([await statusIn(free), await statusIn(`${free}r`)]).toEqual([404, 404])
})

test('[esb.no-access] access that is given, switched and withdrawn', async () => {
  const { id, accessId, path } = await endpoint()
  for (let round = 0; round < rounds; round++) {
    await gateway.access.change(gateway.admin, accessId, { enabled: round % 2 === 1 })
    expect(await statusIn(path)).toBe(round % 2 === 1 ? 200 : 403)
  }
  await gateway.access.withdraw(gateway.admin, accessId)
  expect(await statusIn(path)).toBe(403)
  await gateway.access.allow(gateway.admin, { machineUserID: gateway.machine.id, endpointID: id })
  expect(await statusIn(path)).toBe(200)
})

test('[machine-auth.invalid-token] a token that is rotated, and a machine user that is disabled', async () => {
  const { id: endpointID, path } = await endpoint()
  const machines = machineCalls(() => gateway.service)
  const made = await createMachine(gateway.service, gateway.admin, gateway.project.environmentId)
  await gateway.access.allow(gateway.admin, { machineUserID: made.id, endpointID })
  let token = made.token as string
  const statusOf = (token: string) =>
    statusIn(path, { token, headers: Object.entries(throughProxy(freshClient())) })
  for (let round = 0; round < rounds; round++) {
    expect(await statusOf(token)).toBe(200)
    const { data } = await machines.rotate(gateway.admin, made.id)
    expect(await statusOf(token)).toBe(401)
    token = data.made.generatedToken as string
  }
  for (const enabled of [false, true]) {
    await machines.update(gateway.admin, made.id, { enabled })
    expect(await statusOf(token)).toBe(enabled ? 200 : 401)
  }
})

test('[esb.target] [esb.credentials] url and credentials that change', async () => {
  const { id, path } = await endpoint({ authType: 'Bearer', authToken: 'first' })
  for (let round = 0; round < rounds; round++) {
    await update(id, { url: `${gateway.upstream.url}/target-${round}`, authToken: `token-${round}` })
    for (const to of [second, gateway.service]) {
      await gateway.send(path, { to })
      const { url, headers } = lastReceived() ?? {}
      expect([url, headers?.authorization]).toEqual([`/target-${round}`, `Bearer token-${round}`])
    }
  }
  await update(id, { url: null })
  expect(await statusIn(path)).toBe(502)
})

test('[esb-templates.render] [esb-audit.one-row] a template, its types and the log level that change', async () => {
  const { id, path } = await endpoint({ logLevel: 'NONE' })
  const send = async () => {
    for (const to of [second, gateway.service])
      expect((await gateway.send(path, { method: 'POST', body: '{"a":1}', to })).status).toBe(200)
    return [lastReceived()?.body.toString(), lastReceived()?.headers['content-type']]
  }
  for (let round = 0; round < rounds; round++) {
    await update(id, { transformationTemplate: `${round}:{{.Data.a}}` })
    expect(await send()).toEqual([`${round}:1`, 'application/json'])
  }
  await update(id, { outputMessageType: 'XML' })
  expect(await send()).toEqual([`${rounds - 1}:1`, 'application/xml'])
  await update(id, { transformationTemplate: '' })
  expect(await send()).toEqual(['{"a":1}', undefined])
  expect(await gateway.logged(id)).toEqual([])
  await update(id, { logLevel: 'BASIC' })
  await send()
  expect(await gateway.logged(id)).toHaveLength(2)
})

test('[esb-templates.context] what a template is told of its application and machine user', async () => {
  const { path } = await endpoint({ transformationTemplate: '{{.Application.Name}}|{{.User.Name}}' })
  for (let round = 0; round < 3; round++) {
    const { errors } = await gateway.service.query(
      gateway.admin,
      `mutation($application: ID!, $machine: ID!, $name: String!) {
        updateApplication(id: $application, input: {name: $name}) { id }
        updateMachineUser(id: $machine, input: {name: $name}) { id } }`,
      { application: gateway.project.applicationId, machine: gateway.machine.id, name: `name ${round}` },
    )
    expect(errors).toEqual([])
    for (const to of [second, gateway.service]) {
      await gateway.send(path, { to })
      expect(lastReceived()?.body.toString()).toBe(`name ${round}|name ${round}`)
    }
  }
})
