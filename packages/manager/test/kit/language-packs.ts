// Operations on language packs. Their result is aliased to `pack` or `packs`.
import type { KeyValuePair } from '../../src/platform/inputs/key-value-pairs.ts'
import type { Person } from '@manager/harness/callers.ts'
import type { TestApp } from './app.ts'
import type { GraphqlAnswer } from '@manager/harness/graphql.ts'

const packFields = 'id name content { Key Value }'

export const pair = (Key: string, Value: string): KeyValuePair => ({ Key, Value })

/** Returns operations on language packs. `service` is read on each call. */
export function languagePackCalls(service: () => TestApp) {
  const create = (caller: Person, projectId: string, name: string): Promise<GraphqlAnswer> =>
    service().query(
      caller,
      `mutation($projectId: ID!, $name: String!) {
        pack: createLanguagePack(projectId: $projectId, input: {name: $name}) { ${packFields} } }`,
      { projectId, name },
    )
  const update = (
    caller: Person,
    id: string,
    content: readonly KeyValuePair[],
    selected = packFields,
  ): Promise<GraphqlAnswer> =>
    service().query(
      caller,
      `mutation($id: ID!, $content: [KeyValuePairInput!]!) {
        pack: updateLanguagePackContent(id: $id, input: {content: $content}) { ${selected} } }`,
      { id, content },
    )
  return {
    create,
    update,
    remove: (caller: Person, id: string) =>
      service().query(caller, 'mutation($id: ID!) { deleteLanguagePack(id: $id) }', { id }),
    list: (caller: Person, project: string, args: Record<string, unknown> = {}, selected = packFields) =>
      service().query(
        caller,
        `query($project: ID!, $filters: [Filter!], $order: [Order!], $pagination: Pagination) {
          packs: languagePacks(project: $project, filters: $filters, order: $order, pagination: $pagination) {
            ${selected} } }`,
        { project, ...args },
      ),
    /** Creates a pack with this content and returns its id. */
    make: async (
      caller: Person,
      projectId: string,
      name: string,
      content: readonly KeyValuePair[] = [],
    ): Promise<string> => {
      const made = await create(caller, projectId, name)
      const id = made.data?.pack.id as string
      const filled = content.length === 0 ? made : await update(caller, id, content, 'id')
      if (filled.error !== null) throw new Error(filled.error)
      return id
    },
    /** Returns the audit rows of a pack, oldest first. */
    auditOf: async (id: string) => {
      const { rows } = await service().sql.query<{ changes: Record<string, unknown> }>(
        `select chain_id, entity_type, action, description, changes, user_id from audit_logs
         where entity_id = $1 order by seq`,
        [id],
      )
      return rows
    },
  }
}
