import type { Audit } from '../../platform/audit/append.ts'
import { createEventBuilder } from '../../platform/audit/entity.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { conflict, notFound, orNotFound } from '../../platform/errors.ts'
import { newId, parseUuid } from '../../platform/ids.ts'
import { selectChanges } from '../../platform/inputs/inputs.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import type { Actor } from '../../policy/actor.ts'
import { type ExpectedRevision, checkRevision } from '../../policy/revisions.ts'
import { type SpecificationInput, checkSpecification } from './specification-rules.pure.ts'
import * as store from './specifications.store.ts'

export type SpecificationsDeps = { db: Db; audit: Audit }
export type SpecificationsService = ReturnType<typeof createSpecificationsService>

type Changes = SpecificationInput & { readonly expectedRevision?: ExpectedRevision }

export const specificationEvent = createEventBuilder<store.Specification>({
  type: 'deploymentSpecification',
  classes: {
    id: 'public',
    projectId: 'ignored',
    applicationId: 'public',
    environmentId: 'public',
    workload: 'public',
    image: 'public',
    version: 'public',
    minReplicas: 'public',
    maxReplicas: 'public',
    port: 'public',
    healthPath: 'public',
    readinessTimeoutSeconds: 'public',
    scaleToZero: 'public',
    createdAt: 'ignored',
  },
  nameOf: (specification) => specification.workload,
  projectOf: (specification) => specification.projectId,
})

const noun = 'deployment specification'

/** Manages specifications. Only operators can set the flag `scaleToZero`, with `scale-to-zero.service.ts`. */
export function createSpecificationsService({ db, audit }: SpecificationsDeps) {
  return {
    list: (applicationId: string, args: ListArgs): Promise<store.Specification[]> =>
      store.listSpecifications(db.read, applicationId, readPage(store.specificationFields, args)),

    findMany: (ids: readonly string[]): Promise<store.Specification[]> =>
      store.findSpecifications(db.read, ids),

    create: (
      actor: Actor,
      applicationId: string,
      { environmentId: environmentKey, ...input }: SpecificationInput & { environmentId: string },
    ): Promise<store.Specification> => {
      const values = checkSpecification(input)
      const environmentId = parseUuid(environmentKey)
      if (environmentId === null) throw notFound('environment')
      return db.transaction(async (tx) => {
        const newSpecification = { id: newId(), applicationId, environmentId, ...values }
        const after = orNotFound(await store.insertSpecification(tx, newSpecification), 'application')
        await audit.append(tx, actor, specificationEvent('create', { before: null, after }))
        return after
      })
    },

    update: (
      actor: Actor,
      id: string,
      { expectedRevision, ...input }: Changes,
    ): Promise<store.Specification> =>
      db.transaction(async (tx) => {
        const before = orNotFound(await store.lockSpecification(tx, id), noun)
        await checkRevision(tx, actor, before, expectedRevision)
        const values = checkSpecification({ ...before, ...selectChanges(input) })
        // The operator set the flag for the current workload. A different workload may belong to a different
        // team.
        if (before.scaleToZero && values.workload !== before.workload)
          throw conflict(
            'the workload cannot be changed while scaleToZero is on; ask the operator to turn it off (manager deployment scale-to-zero)',
          )
        const after = await store.updateSpecification(tx, id, values)
        await audit.append(tx, actor, specificationEvent('update', { before, after }))
        return after
      }),

    delete: (actor: Actor, id: string, expectedRevision: ExpectedRevision): Promise<true> =>
      db.transaction(async (tx) => {
        const before = orNotFound(await store.lockSpecification(tx, id), noun)
        await checkRevision(tx, actor, before, expectedRevision)
        await store.deleteSpecification(tx, id)
        await audit.append(tx, actor, specificationEvent('delete', { before, after: null }))
        return true as const
      }),
  }
}
