import type { Actor } from '../../policy/actor.ts'
import { type ExpectedRevision, checkRevision } from '../../policy/revisions.ts'
import type { Audit } from '../../platform/audit/append.ts'
import { createEventBuilder } from '../../platform/audit/entity.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { orNotFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import { checkInput } from '../../platform/inputs/fields.ts'
import { checkName, checkSlug } from '../../platform/inputs/inputs.ts'
import type { EnvironmentsApi } from '../environments/index.ts'
import type { MembershipsApi } from '../memberships/index.ts'
import * as store from './projects.store.ts'

export type ProjectsDeps = {
  db: Db
  audit: Audit
  environments: EnvironmentsApi
  memberships: MembershipsApi
}
export type ProjectsService = ReturnType<typeof createProjectsService>

const event = createEventBuilder<store.Project>({
  type: 'project',
  classes: { id: 'public', name: 'public', slug: 'public', createdAt: 'ignored' },
  nameOf: (project) => project.slug,
  projectOf: (project) => project.id,
})

export function createProjectsService({ db, audit, environments, memberships }: ProjectsDeps) {
  return {
    list: (actor: Actor, args: ListArgs): Promise<store.Project[]> =>
      store.listProjects(
        db.read,
        readPage(store.projectFields, args),
        actor.isAdministrator ? null : actor.user.id,
      ),

    findMany: (ids: readonly string[]): Promise<store.Project[]> => store.findProjects(db.read, ids),

    getBySlug: async (slug: string): Promise<store.Project> =>
      orNotFound(await store.findProjectBySlug(db.read, slug), 'project'),

    /** Returns the project id that the policy check has already found, so no other statement is needed. */
    getIdBySlug: async (actor: Actor, slug: string): Promise<string> =>
      orNotFound(await actor.findTarget('PROJECT_SLUG', [slug]), 'project').projectId,

    /** Creates the project, its environments, its owner and the audit rows in one transaction. */
    create: (actor: Actor, input: { name: string; slug: string }): Promise<store.Project> => {
      const values = { id: newId(), ...checkValues(input) }
      return db.transaction(async (tx) => {
        const after = await store.insertProject(tx, values)
        await environments.createDefaults(tx, after.id)
        await audit.append(tx, actor, event('create', { before: null, after }))
        await memberships.addFirstOwner(tx, actor, after.id)
        return after
      })
    },

    update: (
      actor: Actor,
      id: string,
      input: { name?: string | null; slug?: string | null; expectedRevision?: ExpectedRevision },
    ): Promise<store.Project> =>
      db.transaction(async (tx) => {
        const before = orNotFound(await store.lockProject(tx, id), 'project')
        await checkRevision(tx, actor, { ...before, projectId: before.id }, input.expectedRevision)
        const values = checkValues({ name: input.name ?? before.name, slug: input.slug ?? before.slug })
        const after = await store.updateProject(tx, before.id, values)
        await audit.append(tx, actor, event('update', { before, after }))
        return after
      }),

    delete: (actor: Actor, id: string, expectedRevision: ExpectedRevision): Promise<true> =>
      db.transaction(async (tx) => {
        const before = orNotFound(await store.lockProject(tx, id), 'project')
        await checkRevision(tx, actor, { ...before, projectId: before.id }, expectedRevision)
        await store.deleteProject(tx, before.id)
        await audit.append(tx, actor, event('delete', { before, after: null }))
        return true as const
      }),
  }
}

const checkValues = ({ name, slug }: { name: string; slug: string }) =>
  checkInput({ name: () => checkName(name), slug: () => checkSlug(slug) })
