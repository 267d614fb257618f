// Operators control from the command line whether a deployment may be scaled to zero.
import { type Audit, createSystemActor } from '../../platform/audit/append.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { badRequest } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import { findApplication, findSpecificationId } from './scale-to-zero.store.ts'
import { specificationEvent } from './specifications.service.ts'
import { lockSpecification, updateSpecification } from './specifications.store.ts'
import { deleteWake } from './wakes.store.ts'

type FlagRequest = { application: string; environment: string; isOn: boolean; workload?: string | undefined }
type FlagResult = { name: string; workload: string; isChanged: boolean }

const actor = createSystemActor('manager deployment scale-to-zero')

/**
 * Sets the scale-to-zero flag of a deployment and records the change. If the flag already has this value, no
 * audit row is written.
 */
export async function setScaleToZero(
  { db, audit }: { db: Db; audit: Audit },
  { application, environment, isOn, workload }: FlagRequest,
): Promise<FlagResult> {
  return db.transaction(async (tx) => {
    const [project, slug, ...more] = application.split('/')
    const id = parseUuid(application)
    const target =
      more.length > 0 ? undefined : await findApplication(tx, id === null ? { project, slug } : { id })
    if (target === undefined)
      throw badRequest(
        `application ${application} not found; pass its id, or <project>/<application> with their slugs`,
      )
    const name = `${target.project}/${target.slug} in ${environment}`
    const specificationId = await findSpecificationId(tx, target.id, environment)
    const before = specificationId === undefined ? undefined : await lockSpecification(tx, specificationId)
    if (before === undefined)
      throw badRequest(
        `${name} has no deployment specification; a maintainer of the project can create one with createDeploymentSpecification`,
      )
    // Maintainers may change the workload while the flag is off.
    if (workload !== undefined && workload !== before.workload)
      throw badRequest(`the workload of ${name} is ${before.workload}, not ${workload}; nothing was changed`)
    if (before.scaleToZero === isOn) return { name, workload: before.workload, isChanged: false }
    const after = await updateSpecification(tx, before.id, { scaleToZero: isOn })
    await deleteWake(tx, before.id)
    await audit.append(tx, actor, specificationEvent('update', { before, after }))
    return { name, workload: after.workload, isChanged: true }
  })
}
