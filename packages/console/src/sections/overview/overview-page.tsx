// Summarizes the state of a project: numbers, backends, failed calls, tokens and the last changes.
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useMemo } from 'react'
import { useListSearch } from '../../app/list-search.ts'
import { useNow } from '../../app/now.ts'
import { useCan } from '../../app/project.tsx'
import { IconButton } from '../../kit/button.tsx'
import { Page } from '../../kit/page.tsx'
import { State } from '../../kit/state.tsx'
import { Segments } from '../../kit/tabs.tsx'
import { useLanguage, useText } from '../../texts/language.tsx'
import { useBackends } from './backends.ts'
import { BackendsCard } from './backends-card.tsx'
import { EndpointsCard } from './endpoints-card.tsx'
import './overview.css'
import { ChangesCard, TokensCard } from './side-cards.tsx'
import { Stats } from './stats.tsx'
import { type RangeId, createRange, isRangeId, rangeIds } from './time-range.ts'
import { useTokens } from './tokens.ts'

export function OverviewPage(): ReactNode {
  const t = useText()
  if (useCan('PROJECT_READ')) return <Overview />
  return (
    <Page title={t('section.overview')}>
      <State icon="overview" title={t('overview.noAccess')}>
        {t('overview.noAccessHint')}
      </State>
    </Page>
  )
}

function Overview(): ReactNode {
  const t = useText()
  const { locale } = useLanguage()
  const client = useQueryClient()
  const list = useListSearch()
  const rangeId: RangeId = isRangeId(list.search['range']) ? list.search['range'] : '24h'
  const range = createRange(rangeId, useNow())
  const day = useMemo(
    () =>
      new Intl.DateTimeFormat(locale, {
        weekday: 'short',
        // A range of 7 days starts on the same weekday as today, so the weekday is ambiguous without a date.
        ...(rangeId === '7d' && { day: 'numeric', month: 'short' }),
        hour: 'numeric',
        minute: '2-digit',
      }),
    [locale, rangeId],
  )
  const backends = useBackends()
  const tokens = useTokens()
  const canCalls = useCan('ESB_AUDIT_READ')
  const canBackends = useCan('BACKEND_READ')
  const canAudit = useCan('AUDIT_READ')
  return (
    <Page
      title={t('section.overview')}
      note={t('overview.since', day.format(Date.parse(range.from)))}
      actions={
        <>
          <Segments
            label={t('overview.range')}
            items={rangeIds.map((id) => ({ id, text: t(`overview.range.${id}`) }))}
            selected={rangeId}
            onSelect={(id) => list.setFilter({ range: id === '24h' ? undefined : id })}
          />
          <IconButton
            icon="refresh"
            label={t('overview.refresh')}
            onPress={() => void client.invalidateQueries()}
          />
        </>
      }
    >
      <Stats range={range} backends={backends} tokens={tokens} />
      <div className="overview-columns">
        <div className="overview-column">
          {canBackends && <BackendsCard backends={backends} />}
          {canCalls && <EndpointsCard range={range} />}
        </div>
        <div className="overview-column">
          <TokensCard tokens={tokens} />
          {canAudit && <ChangesCard />}
        </div>
      </div>
    </Page>
  )
}
