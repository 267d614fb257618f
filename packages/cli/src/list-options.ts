// The options and the output that all commands with a list have in common.
import { type Command, InvalidArgumentError } from 'commander'
import type { Context } from './context.ts'
import { type Row, printRemark, printRows } from './output.ts'
import type { Filter, Order } from './rows.ts'
import { addWatchOptions } from './watch.ts'
import { formatCount } from './words.ts'

export type ListOptions = { filter?: Filter[]; sort?: Order[]; limit: number }
export type Listed = { rows: readonly Row[]; hasMore: boolean }
const defaultLimit = 1_000

/** Adds --filter, --sort, --limit and --watch. */
export function addListOptions(
  command: Command,
  { hasFilters = true, limit = defaultLimit }: { hasFilters?: boolean; limit?: number } = {},
): Command {
  if (hasFilters)
    command
      .option('--filter <field=value>', 'list only rows that match this filter; may be repeated', addFilter)
      .option('--sort <field[:desc]>', 'sort by a field; may be repeated', addOrder)
  command.option('--limit <number>', 'the maximum number of rows', parseCount, limit)
  return addWatchOptions(command)
}

/** Prints the rows, and states if there are more. */
export function printListed(
  { terminal, format }: Context,
  columns: readonly string[],
  { rows, hasMore }: Listed,
): void {
  printRows(terminal, format, columns, rows)
  if (hasMore)
    printRemark(
      terminal,
      `Showing the first ${formatCount(rows.length, 'row')}. Use --filter or --limit to see others.`,
    )
}

function addFilter(text: string, previous: Filter[] = []): Filter[] {
  const separator = text.indexOf('=')
  if (separator < 1) throw new InvalidArgumentError('Use field=value.')
  return [...previous, { field: text.slice(0, separator), value: text.slice(separator + 1) }]
}

function addOrder(text: string, previous: Order[] = []): Order[] {
  const [field = '', direction = 'asc', ...rest] = text.split(':')
  if (field === '' || !/^(asc|desc)$/.test(direction) || rest.length > 0)
    throw new InvalidArgumentError('Use field or field:desc.')
  return [...previous, { field, direction: direction === 'desc' ? 'DESC' : 'ASC' }]
}

/** Accepts whole numbers from 1 to 9,999,999. */
export function parseCount(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('Use a whole number, 1 or greater.')
  return Number(text)
}

/** Collects the values of an option that may be repeated. */
export const addValue = (value: string, previous: readonly string[] = []): string[] => [...previous, value]

/** Splits a list that is separated by commas. */
export const parseList = (text: string): string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
