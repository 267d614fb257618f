// These tests cover the operations by which people wake a deployment and read its readiness.
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { seedMember } from '@manager/harness/seed.ts'
import { createFakeOrchestrator, proxyCalls, seedSpecification } from '../../../test/kit/deployments.ts'
import { useProject } from '../../../test/kit/project.ts'
import { OrchestratorFailure } from '../../platform/orchestrator/orchestrator.ts'

let before: () => Promise<void> | void
const orchestrator = createFakeOrchestrator(() => before())
const { service, project, other, person, member } = useProject({ withOther: true, world: { orchestrator } })
const proxy = proxyCalls(() => service.url)

let specificationId: string
beforeEach(async () => {
  before = () => undefined
  orchestrator.calls.length = 0
  orchestrator.floors.clear()
  await service.sql.query('delete from deployment_specifications')
  specificationId = await seedSpecification(service.sql, project, { scaleToZero: true })
})
type Ids = { applicationId: string; environmentId: string }
const parameters = '($applicationId: ID!, $environmentId: ID!)'
const ids = 'applicationId: $applicationId, environmentId: $environmentId'
const wake = (caller: Person, target: Ids) =>
  service.query(
    caller,
    `mutation${parameters} { wakeDeployment(${ids}) { success minReplicas alreadyAwake } }`,
    { applicationId: target.applicationId, environmentId: target.environmentId },
  )
const readiness = (caller: Person, target: Ids) =>
  service.query(
    caller,
    `query${parameters} { deploymentReadiness(${ids}) { ready backends retryAfterMs } }`,
    { applicationId: target.applicationId, environmentId: target.environmentId },
  )
const auditOf = async () =>
  (
    await service.sql.query(
      `select user_id, entity_type, action, description, changes, metadata from audit_logs
       where entity_id = $1 order by seq`,
      [specificationId],
    )
  ).rows
const failure = ({ error, errors }: Awaited<ReturnType<typeof wake>>) => [error, errors[0]?.extensions?.code]

describe('wakeDeployment', () => {
  test('[deployments.person-wake] raises the replicas like the proxy, and records who did it', async () => {
    const tester = await member('tester', 'tester')
    expect((await wake(tester, project)).data.wakeDeployment).toEqual({
      success: true,
      minReplicas: 1,
      alreadyAwake: false,
    })
    expect(orchestrator.floors.get('shop/web')).toBe(1)
    expect(await auditOf()).toEqual([
      {
        user_id: tester.id,
        entity_type: 'deploymentSpecification',
        action: 'wake',
        description: 'deploymentSpecification shop/web woken',
        changes: { awake: { before: false, after: true } },
        metadata: { applicationId: project.applicationId, environment: 'dev', minReplicas: 1 },
      },
    ])
    // A wake that changes nothing leaves no row.
    expect((await wake(tester, project)).data.wakeDeployment).toMatchObject({ alreadyAwake: true })
    expect(await auditOf()).toHaveLength(1)
  })

  test('[deployments.person-wake] shares the call of the orchestrator with the proxy', async () => {
    const developer = await member('developer', 'developer')
    const going = Promise.withResolvers<void>()
    before = () => going.promise
    const byProxy = proxy.wake({ app_id: project.applicationId, env: 'dev' })
    await expect.poll(() => orchestrator.calls.length).toBe(1)
    const byPerson = wake(developer, project)
    going.resolve()
    expect([(await byProxy).status, (await byPerson).error]).toEqual([202, null])
    expect(orchestrator.calls).toHaveLength(1)
  })

  test('[deployments.person-wake] is refused without the flag or the specification, and when the orchestrator fails', async () => {
    const maintainer = await member('maintainer', 'maintainer')
    before = () => {
      throw new OrchestratorFailure('cannot read the Deployment shop/web: forbidden')
    }
    const text = 'cannot read the Deployment shop/web: forbidden'
    expect(failure(await wake(maintainer, project))).toEqual([text, 'bad_gateway'])
    const notEligible = ['the deployment is not scale-to-zero eligible', 'conflict']
    await seedSpecification(service.sql, project)
    expect(failure(await wake(maintainer, project))).toEqual(notEligible)
    await service.sql.query('delete from deployment_specifications')
    expect(failure(await wake(maintainer, project))).toEqual(notEligible)
    expect(await auditOf()).toEqual([])
  })

  test('[deployments.person-wake] needs the role tester, and an environment of the same project', async () => {
    const readonly = await member('readonly', 'readonly')
    const [text, code] = failure(await wake(readonly, project))
    expect([text, code]).toEqual([expect.stringContaining('requires project role tester'), 'forbidden'])
    const visitor = await person('visitor')
    await seedMember(service.sql, visitor, 'member', { projectId: project.id, tenantId: project.tenantId })
    const applicationUser = await person('application-user')
    const inApplication = { projectId: project.id, applicationId: project.applicationId }
    await seedMember(service.sql, applicationUser, 'normal', inApplication)
    expect(failure(await wake(visitor, project))).toEqual(['application not found', 'not_found'])
    expect(failure(await wake(applicationUser, project))[1]).toBe('forbidden')
    const owner = await member('owner', 'owner')
    await seedSpecification(service.sql, other, { scaleToZero: true })
    const targets: [Ids, string][] = [
      [other, 'application not found'],
      [{ ...project, applicationId: 'nonsense' }, 'application not found'],
      [{ ...project, applicationId: randomUUID() }, 'application not found'],
      [{ ...project, environmentId: other.environmentId }, 'environment not found'],
      [{ ...project, environmentId: randomUUID() }, 'environment not found'],
      [{ ...project, environmentId: 'dev' }, 'environment not found'],
    ]
    for (const [target, message] of targets) {
      expect(failure(await wake(owner, target))).toEqual([message, 'not_found'])
      expect(failure(await readiness(owner, target))).toEqual([message, 'not_found'])
    }
    expect(orchestrator.calls).toEqual([])
  })
})

describe('deploymentReadiness', () => {
  test('[deployments.person-ready] returns what the proxy reads', async () => {
    const readonly = await member('reads', 'readonly')
    const { body } = await proxy.ask('ready', { app_id: project.applicationId, env: 'dev' })
    const { data } = await readiness(readonly, project)
    expect(data.deploymentReadiness).toEqual({ ready: false, backends: 0, retryAfterMs: 1_000 })
    expect(body).toEqual({ ready: false, backends: 0, retry_after_ms: 1_000 })
  })
})
