import { type ReactNode, useMemo } from 'react'
import { Badge, Status } from '../../kit/badge.tsx'
import { type DataColumn, TwoLines } from '../../kit/data-table.tsx'
import { Time } from '../../kit/values.tsx'
import { useText } from '../../texts/language.tsx'
import { type EndpointRow, findHost } from './endpoint-types.ts'

export function EnabledStatus({ isEnabled }: { isEnabled: boolean }): ReactNode {
  const t = useText()
  return <Status kind={isEnabled ? 'ok' : 'off'}>{t(isEnabled ? 'esb.enabled' : 'esb.disabled')}</Status>
}

/** At level FULL, every member of the project can read the bodies of calls. */
export const LogLevel = ({ level }: { level: string }): ReactNode =>
  level === 'FULL' ? (
    <Badge tone="warn" icon="warning">
      {level}
    </Badge>
  ) : (
    <Badge tone="outline">{level}</Badge>
  )

function Target({ url }: { url: string | null }): ReactNode {
  const t = useText()
  return url === null || url === '' ? (
    <Status kind="warn">{t('esb.noTarget')}</Status>
  ) : (
    <span title={url}>{findHost(url) ?? url}</span>
  )
}

export function useEndpointColumns(hasApplication: boolean): readonly DataColumn<EndpointRow>[] {
  const t = useText()
  return useMemo(() => {
    const columns: readonly (DataColumn<EndpointRow> | false)[] = [
      {
        id: 'name',
        title: t('esb.name'),
        sortField: 'name',
        width: '3fr',
        minWidth: 160,
        isRowHeader: true,
        priority: 1,
        render: ({ name, consumeURL }) => <TwoLines first={name} second={consumeURL} />,
      },
      hasApplication && {
        id: 'application',
        title: t('esb.application'),
        sortField: 'application',
        width: '1fr',
        minWidth: 112,
        priority: 3,
        render: ({ application: { name } }) => (
          <span className="truncate" title={name}>
            {name}
          </span>
        ),
      },
      {
        id: 'url',
        title: t('esb.target'),
        sortField: 'url',
        width: '2fr',
        minWidth: 144,
        priority: 2,
        render: ({ url }) => <Target url={url} />,
      },
      {
        id: 'logLevel',
        title: t('esb.logLevel'),
        sortField: 'logLevel',
        width: 96,
        minWidth: 96,
        priority: 3,
        render: ({ logLevel }) => <LogLevel level={logLevel} />,
      },
      {
        id: 'enabled',
        title: t('esb.status'),
        sortField: 'enabled',
        width: 112,
        minWidth: 104,
        priority: 1,
        render: ({ enabled }) => <EnabledStatus isEnabled={enabled} />,
      },
      {
        id: 'updatedAt',
        title: t('esb.changed'),
        sortField: 'updatedAt',
        align: 'end',
        width: 112,
        minWidth: 112,
        priority: 3,
        render: ({ updatedAt }) => <Time at={updatedAt} />,
      },
    ]
    return columns.filter((column) => column !== false)
  }, [t, hasApplication])
}
