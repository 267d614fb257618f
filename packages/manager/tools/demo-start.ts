// The start page of the demo: who Anna and Ben are, their doors, and three steps to try. It needs no script.
import type { DemoShop } from './demo-data.ts'
import type { Addresses } from './demo-doors.ts'
import { escapeHtml, renderPage } from './demo-layout.ts'
import { type Person, anna, ben } from './demo-people.ts'
import { noticeKey, projectSlug } from './demo-world.ts'

/** Returns the start page. The links into the console open the objects that a step changes. */
export function renderStartPage(addresses: Addresses, shop: DemoShop): string {
  const title = 'The Manager: two doors'
  return renderPage({
    title,
    content: `<main class="start">
<header>
<p class="product"><span class="mark" aria-hidden="true">${markIcon}</span>Manager</p>
<h1>One Manager, two doors</h1>
<p class="lead">Bloom sells flowers to companies. The Manager on this machine runs its shop for four customers. Open both
doors side by side: a change behind one appears behind the other.</p>
</header>
<div class="doors">
${renderDoors(addresses)}
</div>
<section aria-labelledby="steps">
<h2 id="steps">Try it in three steps</h2>
<ol class="steps">
${listSteps(addresses, shop).map(renderStep).join('\n')}
</ol>
</section>
<footer>
<p>The console shows a month of sample calls, trigger runs and notifications. The audit trail starts with the first start
of the demo.</p>
<p>Nobody needs a password here, so the demo listens only on this machine. Programs reach the Manager at
<code>${addresses.manager}</code>.</p>
</footer>
</main>`,
  })
}

const renderDoors = ({ console: consoleUrl, shop }: Addresses): string =>
  [
    renderDoor({
      person: anna,
      role: 'Owns the project Bloom',
      text: 'Anna decides what each customer may use, changes settings, and sees every call, run and change.',
      link: { href: `${consoleUrl}/console/p/${projectSlug}/overview`, text: 'Open the console as Anna' },
    }),
    renderDoor({
      person: ben,
      role: 'Works for Birch Cafés, a customer of Bloom',
      text: 'Ben orders tulips for a chain of cafés. The shop is the only page that Ben sees, with the settings of the company.',
      link: { href: `${shop}/`, text: 'Open the shop as Ben' },
    }),
  ].join('\n')

type DoorView = { person: Person; role: string; text: string; link: { href: string; text: string } }

const renderDoor = ({
  person,
  role,
  text,
  link,
}: DoorView): string => `<section class="door" aria-labelledby="${person.key}">
<p class="avatar" data-person="${person.key}" aria-hidden="true">${person.name.replaceAll(/[^A-Z]/g, '')}</p>
<div>
<h2 id="${person.key}">${person.name}</h2>
<p class="role">${role}</p>
</div>
<p class="text">${text}</p>
<p class="enter"><a class="button primary" href="${link.href}" target="_blank">${link.text}</a>
<code>${new URL(link.href).host}</code></p>
</section>`

type Step = { title: string; change: string; see: string }

function listSteps({ console: consoleUrl }: Addresses, { application, tenants }: DemoShop): Step[] {
  const birch = tenants['birch']?.id ?? ''
  const section = (name: string, search: Record<string, string>): string =>
    escapeHtml(`${consoleUrl}/console/p/${projectSlug}/${name}?${new URLSearchParams(search)}`)
  const settings = section('settings', { tenant: birch, application: application.id })
  const access = section('access', { application: application.id })
  return [
    {
      title: 'Order tulips',
      change: 'As Ben, order 12 tulips. The shop calls the warehouse through the Manager.',
      see: 'As Anna, open the bell: <q>Birch Cafés ordered 12 tulips</q>. The bell checks for news every minute.',
    },
    {
      title: 'Change a setting',
      change: `As Anna, open the <a href="${settings}" target="_blank">settings of Birch Cafés</a>. In the row <code>${noticeKey}</code>, enter a text in the column <em>Tenant</em>, then review and save it.`,
      see: 'Return to Ben’s page: the text is above the shop. Only Birch Cafés has it.',
    },
    {
      title: 'Close the shop',
      change: `As Anna, open the <a href="${access}" target="_blank">access matrix</a>, switch <em>Shop</em> off for Birch Cafés, and apply the change.`,
      see: 'Within a few seconds, Ben’s page says that the shop is closed. Switch it on again, and it opens.',
    },
  ]
}

const renderStep = ({ title, change, see }: Step): string => `<li>
<h3>${title}</h3>
<p>${change}</p>
<p class="see">${see}</p>
</li>`

const markIcon =
  '<svg width="20" height="20" viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="2" stroke-linejoin="round"><path d="M4 15V5l6 6 6-6v10" /></svg>'
