// The choice of what to review. Generating a report is recorded, so the page does not do it by itself.
import { type ReactNode, useState } from 'react'
import { useRead } from '../../api/requests.ts'
import { useDebounced } from '../../app/debounced.ts'
import { useListSearch } from '../../app/list-search.ts'
import { shellProjectsDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { Page } from '../../kit/page.tsx'
import { Picker } from '../../kit/picker.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { systemScope } from './report.ts'

const shownProjects = 50
const steps = ['read', 'decide', 'attest'] as const

export function ReviewStart(): ReactNode {
  const t = useText()
  const list = useListSearch()
  const [project, setProject] = useState<{ id: string; text: string } | null>(null)
  const open = (scope: string): void => list.setOpen(null, { scope })
  return (
    <Page title={t('section.accessReview')}>
      <ol className="review-steps">
        {steps.map((step) => (
          <li key={step}>
            <strong>{t(`review.step.${step}`)}</strong>{' '}
            <span className="secondary">{t(`review.stepHint.${step}`)}</span>
          </li>
        ))}
      </ol>
      <div className="review-start">
        <Card title={t('review.wholeSystem')}>
          <div className="review-card">
            <p className="secondary">{t('review.systemHint')}</p>
            <Button variant="primary" action="accessReview.read" onPress={() => open(systemScope)}>
              {t('review.startSystem')}
            </Button>
          </div>
        </Card>
        <Card title={t('review.oneProject')}>
          <div className="review-card">
            <p className="secondary">{t('review.projectHint')}</p>
            <ProjectChoice value={project} onChange={setProject} />
            <Button
              action="accessReview.read"
              disabledReason={project === null ? t('system.chooseProject') : null}
              onPress={() => {
                if (project !== null) open(project.id)
              }}
            >
              {t('review.startProject')}
            </Button>
          </div>
        </Card>
      </div>
    </Page>
  )
}

type Chosen = { id: string; text: string }

function ProjectChoice({
  value,
  onChange,
}: {
  value: Chosen | null
  onChange: (value: Chosen) => void
}): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const [search, setSearch] = useState('')
  const text = useDebounced(search.trim())
  const { data, isFetching } = useRead(
    shellProjectsDocument,
    {
      filters: text === '' ? [] : [{ field: 'name', value: text }],
      pagination: { limit: shownProjects, offset: 0 },
    },
    { keepsPrevious: true },
  )
  const { nodes, totalCount } = data?.projectsConnection ?? { nodes: [], totalCount: 0 }
  return (
    <Picker
      label={t('members.of.project')}
      value={value}
      placeholder={t('app.choose')}
      options={nodes.map(({ id, slug, name }) => ({ id, text: name, hint: slug }))}
      isLoading={isFetching}
      search={search}
      onSearch={setSearch}
      note={totalCount > nodes.length ? t('app.moreMatches', number(totalCount)) : undefined}
      onChange={({ id, text: name }) => onChange({ id, text: name })}
    />
  )
}
