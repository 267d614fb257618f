// Lists what a person has access to, and who has access to an object.
import type { Actor } from '../../policy/actor.ts'
import { authorize } from '../../policy/authorize.ts'
import type { HeldRoles } from '../../policy/held-permissions.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { badRequest, orNotFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import { createInvalidCursorError } from '../../platform/lists/cursor.ts'
import { type ListArgs, type ListFields, type Page, readPage } from '../../platform/lists/filters.ts'
import type { SealedCursors } from '../../platform/lists/sealed-cursor.ts'
import { type AccessReasonKind, type AccessRow, createAccessRow, reasonKinds } from './access-rows.pure.ts'
import type { ListedRecord } from './access-records.store.ts'
import { type Grant, type GrantKey, findGrants } from './grants.store.ts'
import * as objects from './object-access.store.ts'
import * as people from './person-access.store.ts'

type PageArgs = Pick<ListArgs, 'filters' | 'pagination'> & { after?: string | null }
type PersonArgs = PageArgs & { user: string; project?: string | null }
type ObjectArgs = PageArgs & { project?: string | null; tenant?: string | null; application?: string | null }
export type EffectiveAccessService = ReturnType<typeof createEffectiveAccessService>

/** A page of rows in the shape of a GraphQL connection. */
export type AccessPage = {
  nodes: AccessRow[]
  pageInfo: {
    hasNextPage: boolean
    hasPreviousPage: boolean
    startCursor: string | null
    endCursor: string | null
  }
  hiddenKinds: readonly AccessReasonKind[]
}

const via = { table: 'users', foreignKey: 'userId' }
/** The fields of a person by which callers can filter, as in the lists of members. */
const personFields: ListFields = {
  userName: { column: 'externalName', match: 'text', via },
  username: { column: 'externalUsername', match: 'text', via },
  userEmail: { column: 'externalEmail', match: 'text', via },
}

export function createEffectiveAccessService({ db, cursors }: { db: Db; cursors: SealedCursors }) {
  return {
    /** Returns a page of everything that a person has access to. */
    listOfPerson: async (
      actor: Actor,
      { user, project = null, ...args }: PersonArgs,
    ): Promise<AccessPage> => {
      const page = readAccessPage({}, args)
      const cursor = createCursorCodec(cursors, { list: personList, readerId: actor.user.id })
      const after = cursor.read(args.after, 4)
      const userId = orNotFound(parseUuid(user), 'user')
      const isSelf = userId === actor.user.id
      const readerId = isSelf || actor.isAdministrator ? null : actor.user.id
      if (project !== null)
        await authorize(actor, { do: 'PROJECT_VIEW', on: ['project'], in: 'PROJECT' }, [project])
      orNotFound(await people.findPerson(db.read, userId, readerId), 'user')
      const selection = { userId, readerId, projectId: parseUuid(project) }
      const records = await people.listPersonRecords(db.read, selection, toPersonPosition(after), page.limit)
      const write = (record: ListedRecord) => cursor.write(people.getPersonPosition(record))
      return {
        ...createConnection({ records, after, write }, page, await readRoles(actor, isSelf ? [] : records)),
        hiddenKinds: readerId === null ? [] : reasonKinds,
      }
    },

    /** Returns a page of everyone who has access to an object. The guard has checked that the caller may read it. */
    listOfObject: async (
      actor: Actor,
      { project, tenant, application, ...args }: ObjectArgs,
    ): Promise<AccessPage> => {
      const page = readAccessPage(personFields, args)
      const cursor = createCursorCodec(cursors, { list: objectList, readerId: actor.user.id })
      const after = cursor.read(args.after, 3)
      const target = await actor.findTarget(objectScope, [
        project ?? null,
        tenant ?? null,
        application ?? null,
      ])
      const { projectId, tenantId = null, applicationId = null } = orNotFound(target, objectNoun)
      const seesAdministrators = actor.isAdministrator
      const seesProjectMembers =
        seesAdministrators || (await actor.readRolesIn(projectId)).projectRole !== null
      const selection = { projectId, tenantId, applicationId, seesAdministrators, seesProjectMembers }
      const records = await objects.listObjectRecords(db.read, selection, toObjectPosition(after), page)
      const write = (record: ListedRecord) => cursor.write(objects.getObjectPosition(record))
      return {
        ...createConnection({ records, after, write }, page, await readRoles(actor, records)),
        hiddenKinds: [
          ...(seesAdministrators ? [] : (['SYSTEM_ROLE'] as const)),
          ...(seesProjectMembers ? [] : (['PROJECT_ROLE'] as const)),
        ],
      }
    },

    /** Returns who granted each role, and when; null for roles whose grant is not in the audit trail. */
    findGrants: (keys: readonly GrantKey[]): Promise<(Grant | null)[]> => findGrants(db.read, keys),
  }
}

/** The object kind of `whoCanReach`, and its noun in error messages. */
export const objectScope = 'PROJECT_TENANT_OR_APPLICATION'
export const objectNoun = 'project, tenant or application'
const [personList, objectList] = ['access of person', 'access to object']

/** Validates the page. One more row than requested shows whether another page follows. */
function readAccessPage(fields: ListFields, { filters, pagination }: PageArgs): Page {
  if ((pagination?.offset ?? 0) !== 0)
    throw badRequest('pagination offset must be 0 here; pass the cursor `after` instead', 'pagination')
  return readPage(fields, { filters, pagination, reading: { hasNextRow: true } })
}

type CursorOwner = Parameters<SealedCursors['open']>[1]

/** Reads and writes the cursors of one list. They are sealed, because a position contains ids that a row hides. */
const createCursorCodec = (cursors: SealedCursors, owner: CursorOwner) => ({
  /** Returns the section and the ids in a cursor, or null without a cursor. */
  read: (after: string | null | undefined, size: number): string[] | null => {
    if (after === null || after === undefined) return null
    const position = cursors.open(after, owner)
    if (position.length !== size) throw createInvalidCursorError()
    return position
  },
  write: (position: readonly string[]): string => cursors.seal(position, owner),
})

const toPersonPosition = (values: string[] | null): people.PersonPosition | null => {
  const [section, projectId = '', tenantId = '', applicationId = ''] = values ?? []
  return values === null ? null : { section: Number(section), projectId, tenantId, applicationId }
}

const toObjectPosition = (values: string[] | null): objects.ObjectPosition | null => {
  const [section, parentId = '', userId = ''] = values ?? []
  return values === null ? null : { section: Number(section), parentId, userId }
}

/** Returns a function that finds the roles of the caller in a project. All projects share one statement. */
async function readRoles(
  actor: Actor,
  records: readonly ListedRecord[],
): Promise<(record: ListedRecord) => { isSelf: boolean; roles: HeldRoles | null }> {
  const projectIds = new Set(records.flatMap(({ projectId }) => projectId ?? []))
  const rolesByProject = new Map<string, HeldRoles>()
  if (!actor.isAdministrator)
    await Promise.all([...projectIds].map(async (id) => rolesByProject.set(id, await actor.readRolesIn(id))))
  return ({ userId, projectId }) => ({
    isSelf: userId === actor.user.id,
    roles: actor.isAdministrator ? 'administrator' : (rolesByProject.get(projectId ?? '') ?? null),
  })
}

type Listed = {
  records: readonly ListedRecord[]
  after: readonly string[] | null
  /** Returns the cursor of a record. */
  write: (record: ListedRecord) => string
}

function createConnection(
  { records, after, write }: Listed,
  { limit }: Page,
  getReader: Awaited<ReturnType<typeof readRoles>>,
): Omit<AccessPage, 'hiddenKinds'> {
  const hasNextPage = records.length >= limit
  const shown = hasNextPage ? records.slice(0, -1) : records
  const encode = (record: ListedRecord | undefined): string | null =>
    record === undefined ? null : write(record)
  return {
    nodes: shown.map((record) => createAccessRow(record, getReader(record))),
    pageInfo: {
      hasNextPage,
      hasPreviousPage: after !== null,
      startCursor: encode(shown[0]),
      endCursor: encode(shown.at(-1)),
    },
  }
}
