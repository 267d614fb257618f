// The calls of the last month as one bar per day, and of one day as one bar per hour. A bar is a link to its calls, so any
// hour of the month is two presses away.
import { type ReactNode, useMemo } from 'react'
import { ListBox, ListBoxItem } from 'react-aria-components'
import { useRead } from '../../api/requests.ts'
import type { ListSearch } from '../../app/list-search.ts'
import { useNow } from '../../app/now.ts'
import { useProject } from '../../app/project.tsx'
import { readTimeRange, toDay } from '../../app/time-range.ts'
import { callHoursDocument } from '../../generated/documents.ts'
import { IconButton } from '../../kit/button.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { type Bar, countDays, countHours, getMonth, isWithinDay } from './timeline.ts'

const refetchMs = 60_000
const height = 32
const leastBar = 3

type TimelineProps = { list: ListSearch; application: string }

export function CallTimeline({ list, application }: TimelineProps): ReactNode {
  const t = useText()
  const now = useNow()
  const { id: project } = useProject()
  const month = getMonth(now)
  const { data } = useRead(
    callHoursDocument,
    { project, application, ...month },
    { refetchMs, keepsPrevious: true },
  )
  const points = data?.callSeries
  const { from, to } = readTimeRange(list.search, now)
  const day = isWithinDay(from, to) && from >= month.from ? from : null
  const bars = useMemo(
    () => (day === null ? countDays(points ?? [], now) : countHours(points ?? [], day)),
    [points, day, now],
  )
  const open = ({ from: start, to: end }: Bar): void => {
    const bounds =
      day === null ? { from: toDay(start, false), to: toDay(end, true) } : { from: start, to: end }
    list.setFilter({ range: undefined, ...bounds })
  }
  return (
    <div className="call-timeline">
      {day !== null && (
        <IconButton
          icon="chevronLeft"
          size="small"
          label={t('calls.showMonth')}
          onPress={() => list.setFilter({ range: undefined, from: undefined, to: undefined })}
        />
      )}
      <Bars
        // The focus must not stay on a bar of the other kind.
        key={day === null ? 'days' : 'hours'}
        bars={bars}
        isCounted={points !== undefined}
        isDays={day === null}
        selected={bars.find((bar) => bar.from === from && bar.to === to)?.from ?? null}
        onOpen={open}
      />
    </div>
  )
}

type BarsProps = {
  bars: readonly Bar[]
  /** False until the numbers are loaded. */
  isCounted: boolean
  isDays: boolean
  /** The start of the selected bar. */
  selected: string | null
  onOpen: (bar: Bar) => void
}

function Bars({ bars, isCounted, isDays, selected, onOpen }: BarsProps): ReactNode {
  const t = useText()
  const { number, date, period } = useFormat()
  const highest = Math.max(...bars.map(({ total }) => total), 1)
  const items = bars.map((bar) => ({ ...bar, id: bar.from }))
  const nameBar = (bar: Bar): string => {
    const when = isDays ? date(bar.from) : period(bar.from, bar.to)
    return isCounted ? t('calls.bar', when, number(bar.total), number(bar.failed)) : when
  }
  return (
    <ListBox
      className="call-bars"
      aria-label={t(isDays ? 'calls.days' : 'calls.hours')}
      orientation="horizontal"
      items={items}
      dependencies={[highest, isCounted]}
      selectionMode="single"
      selectedKeys={selected === null ? [] : [selected]}
      onSelectionChange={(keys) => {
        const [key] = keys
        const bar = bars.find(({ from }) => from === key)
        if (bar !== undefined) onOpen(bar)
      }}
    >
      {(bar) => (
        <ListBoxItem className="call-bar" textValue={nameBar(bar)}>
          <span className="visually-hidden">{nameBar(bar)}</span>
          <span aria-hidden="true" title={nameBar(bar)} className="call-bar-area">
            <BarShape bar={bar} highest={highest} />
            <span className="call-bar-label">{toLabel(bar, isDays)}</span>
          </span>
        </ListBoxItem>
      )}
    </ListBox>
  )
}

/** Some bars have the day of the month or the hour below them. */
function toLabel({ from }: Bar, isDays: boolean): string {
  const time = new Date(from)
  if (isDays) return time.getDay() === 1 ? String(time.getDate()) : ''
  return time.getHours() % 6 === 0 ? `${String(time.getHours()).padStart(2, '0')}:00` : ''
}

function BarShape({ bar: { total, failed }, highest }: { bar: Bar; highest: number }): ReactNode {
  const scale = (count: number): number => (count === 0 ? 0 : Math.max(leastBar, (count / highest) * height))
  const whole = scale(total)
  const broken = Math.min(scale(failed), whole)
  return (
    <svg className="call-bar-shape" viewBox={`0 0 10 ${height}`} preserveAspectRatio="none">
      <rect className="call-bar-empty" x="1" y={height - 1} width="8" height="1" />
      <rect className="call-bar-total" x="1" y={height - whole} width="8" height={whole} />
      <rect className="call-bar-failed" x="1" y={height - broken} width="8" height={broken} />
    </svg>
  )
}
