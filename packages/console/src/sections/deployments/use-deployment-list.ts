// Reads the page of deployments that the address selects. The API lists specifications and backends by application, so
// the values of many applications are read in one request.
import { useMemo } from 'react'
import { readAllRows } from '../../api/all-rows.ts'
import { readBatches, useBatchedReads } from '../../api/batched-reads.ts'
import { useRead } from '../../api/requests.ts'
import { useEnvironment } from '../../app/environment.tsx'
import type { ListSearch } from '../../app/list-search.ts'
import { type CurrentEnvironment, useProject } from '../../app/project.tsx'
import { deploymentApplicationsDocument } from '../../generated/documents.ts'
import {
  type DeploymentRow,
  type ListedApplication,
  type RowBackends,
  type RowSpecification,
  type RowValues,
  findWindow,
  toDeploymentId,
} from './deployment-rows.ts'

export const defaultOrder = { field: 'name', direction: 'ASC' } as const

/** Enough for the state of a deployment. The panel lists all backends. */
const maxBackends = 100

type BackendsKey = `backends_${string}`
type ApplicationValues = {
  readonly specifications: readonly (RowSpecification & { readonly environment: { readonly id: string } })[]
} & Readonly<Record<BackendsKey, RowBackends>>

const toKey = ({ name }: CurrentEnvironment): BackendsKey => `backends_${name}`

/** Returns the root fields for one application: its specifications, and its backends in each environment. */
const createFields = (environments: readonly CurrentEnvironment[]) =>
  ({
    specifications:
      'deploymentSpecifications(application: $id) { workload version minReplicas maxReplicas scaleToZero environment { id } }',
    ...Object.fromEntries(
      environments.map((environment) => [
        toKey(environment),
        `backendsConnection(applicationId: $id, environmentId: ${JSON.stringify(environment.id)}, order: [{ field: "lastHeartbeat", direction: DESC }], pagination: { limit: ${maxBackends}, offset: 0 }) { nodes { version lastHeartbeat isLive } totalCount isTotalExact }`,
      ]),
    ),
  }) as { readonly [Name in keyof ApplicationValues]: string }

export function useDeploymentList({ search, sort, page, size }: ListSearch) {
  const { slug, environments: all } = useProject()
  const chosen = useEnvironment()
  const environments = useMemo(() => (chosen === null ? all : [chosen]), [all, chosen])
  const text = search['q'] ?? ''
  const { pagination, skipped } = findWindow(page, size, Math.max(1, environments.length))
  const variables = {
    project: slug,
    filters: text === '' ? [] : [{ field: 'name', value: text }],
    order: [sort ?? defaultOrder],
  }
  const names = useRead(deploymentApplicationsDocument, { ...variables, pagination }, { keepsPrevious: true })
  const list = names.data?.applicationsConnection
  const fields = useMemo(() => createFields(environments), [environments])
  const values = useBatchedReads<ApplicationValues>({
    name: 'deployments',
    ids: useMemo(() => (list?.nodes ?? []).map(({ id }) => id), [list]),
    fields,
    isLive: true,
  })
  const rows = useMemo(
    () =>
      list === undefined
        ? undefined
        : createRows(list.nodes, environments, values.data).slice(skipped, skipped + size),
    [list, environments, values.data, skipped, size],
  )
  return {
    /** The shown rows, as a page of all rows; undefined until the names have been read. */
    result:
      list === undefined || rows === undefined
        ? undefined
        : {
            nodes: rows,
            totalCount: list.totalCount * environments.length,
            isTotalExact: list.isTotalExact,
          },
    isFiltered: text !== '',
    error: names.error,
    /** The failure of the values, which leaves the names visible. */
    valuesError: values.error,
    refetch: () => {
      for (const read of [names, values]) if (read.isError) void read.refetch()
    },
    /** Reads the rows of all pages, up to a limit. */
    readAll: async (signal: AbortSignal) => {
      const { rows: applications, isComplete } = await readAllRows(
        {
          document: deploymentApplicationsDocument,
          variables: { ...variables, pagination: { limit: 100, offset: 0 } },
          select: (result) => result.applicationsConnection,
        },
        signal,
      )
      const ids = applications.map(({ id }) => id)
      const all = await readBatches<ApplicationValues>({ ids, fields }, signal)
      return { rows: createRows(applications, environments, all), isComplete }
    },
  }
}

const createRows = (
  applications: readonly ListedApplication[],
  environments: readonly CurrentEnvironment[],
  values: ReadonlyMap<string, ApplicationValues> | undefined,
): readonly DeploymentRow[] =>
  applications.flatMap((application) =>
    environments.map((environment) => createRow(application, environment, values?.get(application.id))),
  )

function createRow(
  application: ListedApplication,
  environment: CurrentEnvironment,
  values: ApplicationValues | undefined,
): DeploymentRow {
  const id = toDeploymentId(application.id, environment.name)
  const backends = values?.[toKey(environment)]
  const rowValues: RowValues | undefined =
    values === undefined || backends === undefined
      ? undefined
      : {
          specification: values.specifications.find((each) => each.environment.id === environment.id) ?? null,
          backends,
        }
  return { id, application, environment, values: rowValues }
}
