// The filter by time: the past hours or days, or a range of days.
import { type ReactNode, useState } from 'react'
import {
  Button as AriaButton,
  Dialog,
  DialogTrigger,
  ListBox,
  ListBoxItem,
  Popover,
  Text,
} from 'react-aria-components'
import { useNow } from '../../app/now.ts'
import type { ListSearch } from '../../app/list-search.ts'
import { Button } from '../../kit/button.tsx'
import { ChipLabel, Form, TextField } from '../../kit/form.tsx'
import { Icon } from '../../kit/icon.tsx'
import { type Format, useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { Translate } from '../../texts/texts.ts'
import { type TimeRange, pastRanges, readTimeRange, toDay } from './time-range.ts'

const rangeIds = ['any', ...(Object.keys(pastRanges) as (keyof typeof pastRanges)[])] as const

/** Returns the text for a range. For a custom range, the text contains the first and the last day. */
export function formatRange({ id, from, to }: TimeRange, t: Translate, { date }: Format): string {
  if (id !== 'custom') return t(`audit.range.${id}`)
  const last = to === null ? null : new Date(Date.parse(to) - 1).toISOString()
  if (from === null) return t('audit.range.until', date(last ?? ''))
  return last === null ? t('audit.range.since', date(from)) : `${date(from)} – ${date(last)}`
}

export function RangeFilter({ list }: { list: ListSearch }): ReactNode {
  const t = useText()
  const format = useFormat()
  const [isOpen, setOpen] = useState(false)
  const range = readTimeRange(list.search, useNow())
  const choose = (changes: Parameters<ListSearch['setFilter']>[0]): void => {
    setOpen(false)
    list.setFilter({ range: undefined, from: undefined, to: undefined, ...changes })
  }
  return (
    <DialogTrigger isOpen={isOpen} onOpenChange={setOpen}>
      <AriaButton className="input select" data-size="small" data-chip="">
        <ChipLabel label={t('audit.time')} />
        <span className="truncate">{formatRange(range, t, format)}</span>
        <Icon name="chevronDown" size={12} />
      </AriaButton>
      <Popover className="popover" placement="bottom start">
        <Dialog className="audit-range" aria-label={t('audit.time')}>
          <ListBox
            className="menu"
            aria-label={t('audit.time')}
            autoFocus
            selectionMode="single"
            selectedKeys={[range.id]}
            onSelectionChange={(keys) => {
              const [id = range.id] = keys
              choose({ range: id === 'any' ? undefined : String(id) })
            }}
          >
            {rangeIds.map((id) => (
              <ListBoxItem key={id} id={id} textValue={t(`audit.range.${id}`)} className="menu-item">
                <Text slot="label">{t(`audit.range.${id}`)}</Text>
              </ListBoxItem>
            ))}
          </ListBox>
          <DaysForm range={range} onApply={choose} />
        </Dialog>
      </Popover>
    </DialogTrigger>
  )
}

type DaysProps = {
  range: TimeRange
  onApply: (days: { from: string | undefined; to: string | undefined }) => void
}

const toValue = (day: string): string | undefined => (day === '' ? undefined : day)

function DaysForm({ range, onApply }: DaysProps): ReactNode {
  const t = useText()
  const [from, setFrom] = useState(toDay(range.from, false))
  const [to, setTo] = useState(toDay(range.to, true))
  const isEmpty = from === '' && to === ''
  const isReversed = from !== '' && to !== '' && from > to
  const problem = isEmpty ? t('audit.chooseDay') : isReversed ? t('audit.reversedDays') : null
  return (
    <div className="audit-days">
      <Form
        id="audit-days"
        onSubmit={() => {
          if (problem === null) onApply({ from: toValue(from), to: toValue(to) })
        }}
      >
        <TextField label={t('audit.fromDay')} type="date" value={from} onChange={setFrom} />
        <TextField label={t('audit.toDay')} type="date" value={to} onChange={setTo} />
        <Button type="submit" disabledReason={problem}>
          {t('audit.applyDays')}
        </Button>
      </Form>
    </div>
  )
}
