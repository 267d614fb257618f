import type { Actor } from '../../policy/actor.ts'
import { authorize } from '../../policy/authorize.ts'
import type { Db, Tx } from '../../platform/postgres/handles.ts'
import { parseUuid } from '../../platform/ids.ts'
import type { SearchMatch } from '../../platform/lists/search-text.ts'
import {
  type Kind,
  type SearchArgs,
  type SearchQuery,
  type TextKind,
  compareHits,
  idKinds,
  rankTexts,
  readSearch,
  textKinds,
} from './search-text.pure.ts'
import * as store from './search.store.ts'
import * as visibility from './visible-objects.store.ts'

export type SearchService = ReturnType<typeof createSearchService>

type Hit = store.Candidate & { kind: Kind; matchedField: string }
type RankedHit = Hit & Pick<ReturnType<typeof rankTexts>, 'rank'>
type Visibility = {
  /** Projects in which the caller may see all objects. */
  projectIds: 'all' | readonly string[]
  objects: Record<'project' | 'tenant' | 'application' | 'other', store.VisibleObjects>
  users: store.VisibleUsers
  isComplete: boolean
}

export function createSearchService({ db }: { db: Db }) {
  return {
    /** Returns the objects that match the text and that the caller may see. All statements read the same snapshot. */
    search: async (actor: Actor, args: SearchArgs): Promise<{ hits: Hit[]; isComplete: boolean }> => {
      const query = readSearch(args)
      const projectId = args.projectId ?? null
      if (projectId !== null)
        await authorize(actor, { do: 'PROJECT_VIEW', on: ['projectId'], in: 'PROJECT' }, [projectId])
      const found = await db.transaction(
        async (tx) => {
          const visible = await findVisibility(tx, actor, parseUuid(projectId))
          const search = new Search(tx, query, visible)
          await search.findIds()
          await search.findCalls()
          await search.findTexts()
          return search
        },
        { isSnapshot: true },
      )
      const hits = found.hits.toSorted(compareHits)
      return { hits: hits.slice(0, query.limit), isComplete: found.isComplete && hits.length <= query.limit }
    },
  }
}

/**
 * Determines which objects the caller may see: those in the caller's lists. `projectId` restricts them to one project
 * unless it is null.
 */
async function findVisibility(tx: Tx, actor: Actor, projectId: string | null): Promise<Visibility> {
  if (actor.isAdministrator) return projectId === null ? fullVisibility : createProjectVisibility(projectId)
  const memberships = await visibility.listMemberships(tx, actor.user.id, projectId)
  const read = (kind: visibility.Membership['kind']): string[] =>
    memberships.filter((one) => one.kind === kind && one.canRead).map(({ id }) => id)
  const projectIds = read('project')
  const counts = Map.groupBy(memberships, ({ kind }) => kind).values()
  return {
    projectIds,
    objects: {
      project: { projectIds: [], ids: [...new Set(memberships.map((one) => one.projectId))] },
      tenant: { projectIds, ids: read('tenant') },
      application: { projectIds, ids: read('application') },
      other: { projectIds, ids: [] },
    },
    users: { projectIds, callerId: projectId === null ? actor.user.id : null },
    isComplete: counts.every(({ length }) => length <= visibility.maxMemberships),
  }
}

const fullVisibility: Visibility = {
  projectIds: 'all',
  objects: { project: 'all', tenant: 'all', application: 'all', other: 'all' },
  users: 'all',
  isComplete: true,
}

function createProjectVisibility(projectId: string): Visibility {
  const objects = { projectIds: [projectId], ids: [] }
  return {
    projectIds: [projectId],
    objects: {
      project: { projectIds: [], ids: [projectId] },
      tenant: objects,
      application: objects,
      other: objects,
    },
    users: { projectIds: [projectId], callerId: null },
    isComplete: true,
  }
}

/** Collects the matches for one search, kind by kind. */
class Search {
  readonly #tx: Tx
  readonly #query: SearchQuery
  readonly #visible: Visibility
  readonly #hits = new Map<string, RankedHit>()
  isComplete: boolean

  constructor(tx: Tx, query: SearchQuery, visible: Visibility) {
    this.#tx = tx
    this.#query = query
    this.#visible = visible
    this.isComplete = visible.isComplete
  }

  get hits(): RankedHit[] {
    return [...this.#hits.values()]
  }

  async findIds(): Promise<void> {
    const { id } = this.#query
    if (id === null) return
    for (const kind of idKinds) {
      if (!this.#query.kinds.has(kind)) continue
      const rows =
        kind === 'user'
          ? await store.findUserById(this.#tx, id, this.#visible.users)
          : await store.findById(this.#tx, kind, id, this.#getObjects(kind))
      for (const row of rows) this.#add(kind, row, { rank: 0, matchedField: 'id' })
    }
  }

  async findCalls(): Promise<void> {
    const { requestId, kinds } = this.#query
    const { projectIds } = this.#visible
    if (requestId === null || !kinds.has('loggedCall') || projectIds.length === 0) return
    const { calls, isComplete } = await visibility.findCallsByRequestId(this.#tx, requestId, projectIds)
    for (const call of calls) this.#add('loggedCall', call, { rank: 0, matchedField: 'requestId' })
    this.isComplete &&= isComplete
  }

  async findTexts(): Promise<void> {
    const { text, kinds } = this.#query
    if (text === null) return
    const { users } = this.#visible
    if (kinds.has('user') && users !== 'all' && (await visibility.hasMoreMembers(this.#tx, users.projectIds)))
      this.isComplete = false
    await store.forceSearchIndexes(this.#tx)
    for (const kind of textKinds) {
      if (!kinds.has(kind)) continue
      const rows = await this.#findCandidates(kind, text)
      const fields = store.textFields(kind)
      for (const row of kind === 'piletPackage' ? keepNewestVersions(rows) : rows) {
        const { rank, position } = rankTexts(row.texts, text)
        this.#add(kind, row, { rank, matchedField: fields[position] as string })
      }
    }
  }

  /** If there are too many matches to rank all of them, the best ones are read separately. */
  async #findCandidates(kind: TextKind, text: string): Promise<store.Candidate[]> {
    const find = (match: SearchMatch): Promise<store.Candidate[]> =>
      kind === 'user'
        ? store.findUsersByText(this.#tx, { text, match }, this.#visible.users)
        : store.findByText(this.#tx, kind, { text, match }, this.#getObjects(kind))
    const rows = await find('anywhere')
    if (rows.length <= store.maxCandidates) return rows
    this.isComplete = false
    return [...(await find('whole')), ...(await find('start')), ...rows]
  }

  #getObjects(kind: Kind): store.VisibleObjects {
    const { objects } = this.#visible
    return kind === 'project' || kind === 'tenant' || kind === 'application' ? objects[kind] : objects.other
  }

  #add(kind: Kind, row: store.Candidate, match: Pick<RankedHit, 'rank' | 'matchedField'>): void {
    this.#hits.set(`${kind} ${row.id}`, { ...row, kind, ...match })
  }
}

/** Returns one row for each pilet of a project. Ids of versions sort by upload time. */
function keepNewestVersions(rows: readonly store.Candidate[]): store.Candidate[] {
  const newest = new Map<string, store.Candidate>()
  for (const row of rows.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
    newest.set(`${row.projectId} ${row.title}`, row)
  return [...newest.values()]
}
