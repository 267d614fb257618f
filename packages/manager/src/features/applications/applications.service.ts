import type { Actor } from '../../policy/actor.ts'
import { type ExpectedRevision, checkRevision } from '../../policy/revisions.ts'
import { findVisibleRows } from '../../policy/visible-rows.ts'
import type { Audit } from '../../platform/audit/append.ts'
import { createEventBuilder } from '../../platform/audit/entity.ts'
import type { Db, Tx } from '../../platform/postgres/handles.ts'
import { conflict, orNotFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import { checkInput } from '../../platform/inputs/fields.ts'
import { checkName, checkSlug, checkText, selectChanges } from '../../platform/inputs/inputs.ts'
import type { ProjectsApi } from '../projects/index.ts'
import * as store from './applications.store.ts'

export type ApplicationsDeps = {
  db: Db
  audit: Audit
  projects: ProjectsApi
  /**
   * Returns the number of logged calls to the application's endpoints as text, or null if there are none.
   * Logged calls prevent deletion.
   */
  countLoggedCalls: (tx: Tx, applicationId: string) => Promise<string | null>
}
export type ApplicationsService = ReturnType<typeof createApplicationsService>

type Input = { name?: string | null; slug?: string | null; description?: string | null }
type Changes = Input & { expectedRevision?: ExpectedRevision }

const event = createEventBuilder<store.Application>({
  type: 'application',
  classes: {
    id: 'public',
    projectId: 'ignored',
    name: 'public',
    slug: 'public',
    description: 'public',
    createdAt: 'ignored',
  },
  nameOf: (application) => application.slug,
  projectOf: (application) => application.projectId,
})

export function createApplicationsService({ db, audit, projects, countLoggedCalls }: ApplicationsDeps) {
  const list = async (
    actor: Actor,
    projectIds: readonly string[],
    args: ListArgs,
  ): Promise<store.Application[]> => {
    const page = readPage(store.applicationFields, args)
    const visibleIds = await findVisibleRows(actor, projectIds, ({ applications }) => [
      ...applications.keys(),
    ])
    return store.listApplications(db.read, projectIds, visibleIds, page)
  }
  return {
    list,

    listByProjectSlug: async (actor: Actor, slug: string, args: ListArgs): Promise<store.Application[]> =>
      list(actor, [await projects.getIdBySlug(actor, slug)], args),

    findMany: (ids: readonly string[]): Promise<store.Application[]> => store.findApplications(db.read, ids),

    getBySlug: async (projectId: string, slug: string): Promise<store.Application> =>
      orNotFound(await store.findApplicationBySlug(db.read, projectId, slug), 'application'),

    create: (
      actor: Actor,
      projectId: string,
      input: Input & { name: string; slug: string },
    ): Promise<store.Application> => {
      const values = checkValues({ ...input, description: input.description ?? '' })
      return db.transaction(async (tx) => {
        const after = await store.insertApplication(tx, { id: newId(), projectId, ...values })
        await audit.append(tx, actor, event('create', { before: null, after }))
        return after
      })
    },

    update: (actor: Actor, id: string, input: Changes): Promise<store.Application> =>
      db.transaction(async (tx) => {
        const before = orNotFound(await store.lockApplication(tx, id), 'application')
        await checkRevision(tx, actor, before, input.expectedRevision)
        const after = await store.updateApplication(
          tx,
          before.id,
          checkValues({ ...before, ...selectChanges(input) }),
        )
        await audit.append(tx, actor, event('update', { before, after }))
        return after
      }),

    delete: (actor: Actor, id: string, expectedRevision: ExpectedRevision): Promise<true> =>
      db.transaction(async (tx) => {
        const before = orNotFound(await store.lockApplication(tx, id), 'application')
        await checkRevision(tx, actor, before, expectedRevision)
        const callCount = await countLoggedCalls(tx, before.id)
        if (callCount !== null)
          throw conflict(
            `the application cannot be deleted, because its endpoints have served ${callCount}; disable the endpoints instead (updateEndpoint with enabled: false)`,
          )
        await store.deleteApplication(tx, before.id)
        await audit.append(tx, actor, event('delete', { before, after: null }))
        return true as const
      }),
  }
}

function checkValues(values: store.ApplicationValues): store.ApplicationValues {
  return checkInput({
    name: () => checkName(values.name),
    slug: () => checkSlug(values.slug),
    description: () => checkText(values.description, 'description', 2_000),
  })
}
