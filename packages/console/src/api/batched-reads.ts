// Reads one value for each of many objects if the API has no list of the values. A request reads the values of several
// objects under aliases; the API allows 20 root fields per request.
import { type TypedDocument, graphql } from '@manager/client'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { connection } from './connection.ts'
import { createLiveOptions } from './live-reads.ts'
import { repeatAfter } from './requests.ts'

const maxRootFields = 20
const maxConcurrentBatches = 4

export type BatchedRead<Values> = {
  /** Identifies the query in the cache. */
  name: string
  ids: readonly string[]
  /** The type of the variable `$id`. */
  idType?: 'ID!' | 'String!'
  /** Root fields for one object, keyed by the name of the value; `$id` stands for the id of the object. */
  fields: { readonly [Name in keyof Values & string]: string }
  /** Further variables of the fields, of the type `String!`, such as the value of a filter. */
  texts?: Readonly<Record<string, string>>
  isEnabled?: boolean
  /** Repeats the query after this many milliseconds while the page is visible, less often after failures. */
  refetchMs?: number
  /** Forgets the result as soon as no component shows it, for results that can contain secrets. */
  isSensitive?: boolean
  /** Repeats the requests every few seconds while the page is visible, less often after failures. */
  isLive?: boolean
}

type Entries<Values> = readonly (readonly [string, Values])[]

const noTexts: Readonly<Record<string, string>> = {}

const splitIntoBatches = (ids: readonly string[], size: number): string[][] =>
  Array.from({ length: Math.ceil(ids.length / size) }, (_, index) =>
    ids.slice(index * size, (index + 1) * size),
  )

async function readBatch<Values>(
  ids: readonly string[],
  { idType, fields, texts }: Required<Pick<BatchedRead<Values>, 'idType' | 'fields' | 'texts'>>,
  signal: AbortSignal,
): Promise<Entries<Values>> {
  const names = Object.keys(fields) as (keyof Values & string)[]
  const variables = { ...texts, ...Object.fromEntries(ids.map((id, index) => [`id${index}`, id])) }
  const declarations = [
    ...ids.map((_, index) => `$id${index}: ${idType}`),
    ...Object.keys(texts).map((name) => `$${name}: String!`),
  ].join(' ')
  const roots = ids.flatMap((_, index) =>
    names.map((name) => `${name}${index}: ${fields[name].replaceAll('$id', () => `$id${index}`)}`),
  )
  const document = `query batch(${declarations}) { ${roots.join(' ')} }` as TypedDocument<
    Record<string, unknown>,
    typeof variables
  >
  const data = await graphql(connection, document, variables, { signal })
  return ids.map((id, index) => [
    id,
    Object.fromEntries(names.map((name) => [name, data[`${name}${index}`]])) as Values,
  ])
}

/** Reads values of objects in as few requests as possible. */
export async function readBatches<Values>(
  { ids, fields, idType = 'ID!', texts = noTexts }: Omit<BatchedRead<Values>, 'name'>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Values>> {
  const batches = splitIntoBatches(ids, Math.floor(maxRootFields / Object.keys(fields).length))
  const entries: (readonly [string, Values])[] = []
  for (let start = 0; start < batches.length; start += maxConcurrentBatches) {
    const running = batches
      .slice(start, start + maxConcurrentBatches)
      .map((batch) => readBatch<Values>(batch, { idType, fields, texts }, signal))
    entries.push(...(await Promise.all(running)).flat())
  }
  return new Map(entries)
}

/**
 * Reads values of objects in as few requests as possible. The result is the same JavaScript object until a value
 * changes.
 */
export function useBatchedReads<Values>({
  name,
  ids,
  fields,
  idType = 'ID!',
  texts = noTexts,
  isEnabled = true,
  refetchMs,
  isSensitive = false,
  isLive = false,
}: BatchedRead<Values>): UseQueryResult<ReadonlyMap<string, Values>> {
  return useQuery({
    queryKey: [name, fields, ids, texts],
    queryFn: ({ signal }) => readBatches({ ids, fields, idType, texts }, signal),
    enabled: isEnabled && ids.length > 0,
    ...(isLive ? createLiveOptions<ReadonlyMap<string, Values>>(() => true) : repeatAfter(refetchMs)),
    ...(isSensitive ? { gcTime: 0 } : {}),
  })
}
