// Runs one statement per level of a query: keys that are requested while others are still being resolved are
// loaded together. A loader exists only for the duration of its request.
import DataLoader from 'dataloader'
import { orNotFound } from '../errors.ts'

const loaders = new WeakMap<object, Map<string, DataLoader<string, unknown>>>()

/** Loads one key; `name` identifies the loader and includes the arguments for which it was created. */
export function load<Value>(
  context: object,
  name: string,
  key: string,
  loadMany: (keys: readonly string[]) => Promise<Value[]>,
): Promise<Value> {
  let requestLoaders = loaders.get(context)
  if (requestLoaders === undefined) loaders.set(context, (requestLoaders = new Map()))
  let loader = requestLoaders.get(name)
  if (loader === undefined) requestLoaders.set(name, (loader = new DataLoader<string, unknown>(loadMany)))
  return loader.load(key) as Promise<Value>
}

/** Drops everything that the request has loaded so far. */
export const clearLoaders = (context: object): boolean => loaders.delete(context)

/** Loads one row by its id, batched with concurrent requests; throws "<noun> not found" if it does not exist. */
export async function loadRow<Row extends { id: string }>(
  context: object,
  noun: string,
  id: string,
  findMany: (ids: readonly string[]) => Promise<Row[]>,
): Promise<Row> {
  const row = await load(context, noun, id, async (ids) =>
    orderByKeys(ids, await findMany(ids), (foundRow) => foundRow.id),
  )
  return orNotFound(row, noun)
}

/** Returns the rows in the order of the keys, with null for a key without a row. */
function orderByKeys<Row>(
  keys: readonly string[],
  rows: readonly Row[],
  getKey: (row: Row) => string,
): (Row | null)[] {
  const rowsByKey = new Map(rows.map((row) => [getKey(row), row]))
  return keys.map((key) => rowsByKey.get(key) ?? null)
}

/** Returns the rows of each key, in the order of the keys; a key without rows gets an empty list. */
export function groupByKeys<Row>(
  keys: readonly string[],
  rows: readonly Row[],
  getKey: (row: Row) => string,
): Row[][] {
  const rowsByKey = Map.groupBy(rows, getKey)
  return keys.map((key) => rowsByKey.get(key) ?? [])
}
