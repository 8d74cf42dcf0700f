// people.mjs - two people use the pages in a real Chromium, as they would
//
// usage: TOKEN=TOKEN node tests/web/people.mjs PLAYWRIGHT AXE PAGE1 PAGE2 DOOR [PICTURES]
//
// PAGE1 and PAGE2 are the addresses that ssh forwards for user1 and for user2; DOOR is one for who has a token, and TOKEN
// one of user1 that may only read.  A job of user1 called lastmonth is in an archive.  Prints a line for each thing that
// was to be seen: "ok WHAT" or "not ok WHAT: WHAT WAS SEEN".  With PICTURES each page that was looked at is kept in
// that directory as light, dark and phone.
import { readFileSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';

const [playwright, axe, page1, page2, door, pictures] = process.argv.slice(2);
const { chromium } = createRequire(import.meta.url)(playwright);
const axeSource = readFileSync(axe, 'utf8');
const patience = 1000 * (Number(process.env.PATIENCE) || 6);
// What is looked for in each way: all of axe's rules in one, and in the others what differs there.
const looks = {
    light: { colorScheme: 'light', viewport: { width: 1280, height: 800 } },
    dark: { colorScheme: 'dark', viewport: { width: 1280, height: 800 }, rules: ['color-contrast', 'link-in-text-block'] },
    phone: { colorScheme: 'light', viewport: { width: 360, height: 740 }, rules: ['target-size', 'scrollable-region-focusable'] },
};
if (pictures)
    mkdirSync(pictures, { recursive: true });

function say(good, what, seen) {
    console.log(`${good ? 'ok' : 'not ok'} ${what}${good ? '' : `: ${String(seen).replaceAll('\n', ' | ')}`}`);
}
function is(got, wanted, what) {
    say(got === wanted, what, `found ${JSON.stringify(got)}, expected ${JSON.stringify(wanted)}`);
}
function like(got, pattern, what) {
    say(pattern.test(got), what, `found ${JSON.stringify(got.slice(0, 400))}, expected ${pattern}`);
}

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
let last; // the page that something was asked of last
const elsewhere = new Set(), complaints = new Set();

// A person: a browser of their own, whose every request and complaint is written down.
async function person(base, options = {}) {
    const context = await browser.newContext({ baseURL: base, ...looks.light, ...options });
    context.setDefaultTimeout(5 * patience);
    context.on('request', request => request.url().startsWith(base) || elsewhere.add(request.url()));
    const page = await context.newPage();
    page.on('request', () => { last = page; });
    page.on('console', message => message.type() === 'error' && !(base === door && /\b40[13]\b/.test(message.text())) && complaints.add(message.text()));
    page.on('pageerror', error => complaints.add(error.message));
    return page;
}

// Look at a page in each way: axe finds nothing, and on a phone it needs no scrolling sideways.
const faults = [], wide = [], seen = [];
async function look(page, name) {
    seen.push(name);
    await page.evaluate(axeSource);
    for (const [way, { colorScheme, viewport, rules }] of Object.entries(looks)) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize(viewport);
        const { violations } = await page.evaluate(rules => axe.run(
            { resultTypes: ['violations'], ...(rules && { runOnly: rules }) }), rules);
        for (const { id, help, nodes } of violations)
            faults.push(`${name} (${way}): ${id}: ${help}: ${nodes.map(node => node.html.slice(0, 120)).slice(0, 3).join(' ; ')}`);
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        if (width > viewport.width)
            wide.push(`${name} (${way}) is ${width} wide`);
        if (way === 'phone')
            for (const table of await page.evaluate(() => [...document.querySelectorAll('.wide')]
                .filter(part => part.querySelector('table') && part.scrollWidth > part.clientWidth)
                .map(part => part.getAttribute('aria-label'))))
                wide.push(`the table ${table} of ${name} is wider than a phone`);
        if (pictures)
            await page.screenshot({ path: `${pictures}/${name}-${way}.png`, fullPage: true });
    }
    await page.emulateMedia(looks.light);
    await page.setViewportSize(looks.light.viewport);
}

async function alerts(page) { return (await page.getByRole('alert').allTextContents()).join('\n'); }
async function shown(page) { return page.locator('main').innerText(); }

// Paste a job file and submit it; the id of the job whose page comes then.
async function submit(page, text) {
    await page.goto('/new');
    await page.getByLabel(/Job file/).fill(text);
    await page.getByRole('button', { name: 'Submit' }).click();
    await page.waitForURL(/\/jobs\/./);
    return decodeURIComponent(new URL(page.url()).pathname.split('/').pop());
}

// A page that says it waits is asked again, as people do, until it says what is waited for.
async function until(page, url, pattern) {
    const end = Date.now() + 20 * patience;
    for (;;) {
        await page.goto(url);
        const text = await shown(page);
        if (pattern.test(text) || Date.now() > end)
            return text;
        await new Promise(resolve => setTimeout(resolve, 200));
    }
}

try {
    const one = await person(page1), two = await person(page2);

    // The first page, with nothing done before.
    await one.goto('/');
    is(await one.getByRole('heading', { level: 1 }).innerText(), 'Jobs', 'the first page is of jobs, without a sign in');
    await look(one, 'jobs-none');

    // By paste: a mistake is told with its place, the job file stays, and the corrected one becomes a job.
    await one.goto('/new');
    await look(one, 'new');
    await one.getByLabel(/Job file/).fill('name: grows\nscirpt: |\n  echo\n');
    await one.getByRole('button', { name: 'Check' }).click();
    like(await alerts(one), /2:1: scirpt: unknown field; did you mean script\?/, 'a mistake is told with its line');
    like(await one.getByLabel(/Job file/).inputValue(), /^name: grows\nscirpt/, 'and the job file is still there');
    await look(one, 'new-mistake');
    const grows = await submit(one, 'name: grows\nlibrary: any\ntype: single\nscript: |\n  #!/bin/sh\n  i=0\n'
        + '  while [ ! -e "$DLSPOOL_OUTPUT/enough" ]; do i=$((i + 1)); echo "this is line $i"; sleep 0.2; done\n'
        + 'tasks: {main: {cpus: 0.1, memory: 64Mi}}\n');
    like(grows, /^grows-/, 'a job file that is pasted becomes a job');

    // Its output grows while its owner looks.
    like(await until(one, `/jobs/${grows}`, /this is line 3\b/), /this is line 3\b/, 'its output is shown while it runs');
    const before = (await one.locator('pre').first().innerText()).trim().split('\n').length;
    await one.getByText(`this is line ${before + 3}\n`).waitFor();
    say(true, 'and grows without a click');
    await look(one, 'job-running');

    // Another sees it, and may not end it.
    await two.goto('/jobs');
    like(await shown(two), new RegExp(`${grows}`), 'another user sees it');
    await two.getByRole('checkbox', { name: grows }).check();
    await look(two, 'jobs');
    is(await two.locator('td.time').first().evaluate(cell => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        return range.getClientRects().length;
    }), 1, 'a time of the list stands in one line');
    await two.getByRole('button', { name: 'kill' }).first().click();
    like(await shown(two), /belongs to user1; only its owner or an administrator may kill it/, 'and may not kill it');
    await look(two, 'asked');
    await two.goto(`/jobs/${grows}`);
    is(await two.getByRole('button', { name: 'kill' }).count(), 0, 'its page offers them nothing that they may not');
    await look(two, 'job-of-another');

    // Its owner may.
    await one.goto(`/jobs/${grows}`);
    await one.getByRole('button', { name: 'kill' }).click();
    like(await until(one, `/jobs/${grows}`, /killed/), /killed/, 'its owner kills it, and its page says so');
    await look(one, 'job-killed');

    // Approval: the owner is not asked, the other is, and says yes.
    const special = await submit(one, 'name: special\nlibrary: any\ntype: single\nscript: "#!/bin/sh"\nprivileged: [hostnet]\n'
        + 'tasks: {main: {cpus: 0.1, memory: 64Mi}}\n');
    like(await until(one, `/jobs/${special}`, /privilege/), /hostnet/, 'a job that needs an approval says what for');
    await look(one, 'job-held');
    await one.goto('/approvals');
    is((await shown(one)).includes(special), false, 'its owner is not asked to approve it');
    await two.goto('/approvals');
    like(await shown(two), new RegExp(special), 'an approver is');
    await look(two, 'approvals');
    await two.locator('form', { hasText: '' }).getByRole('button', { name: 'approve' }).first().click();
    like(await until(one, `/jobs/${special}`, /succeeded|\bdone\b/), /succeeded|\bdone\b/, 'and it goes on to its end');
    await look(one, 'job-done');

    // Another is refused, with the Enter key behind the words: that key must not approve.
    const refused = await submit(one, 'name: refused\nlibrary: any\ntype: single\nscript: "#!/bin/sh"\nprivileged: [hostnet]\n');
    await until(two, `/jobs/${refused}`, /Why not/);
    await two.getByLabel('Why not').fill('ask me first');
    await two.keyboard.press('Enter');
    await two.waitForURL(/approvals$/);
    like(await shown(two), /asked to refuse/, 'the Enter key behind a reason refuses');
    like(await until(one, `/jobs/${refused}`, /ask me first/), /ask me first/, 'and the owner is told the reason');

    // A job of last month, which is in an archive by now.
    await one.goto('/jobs');
    is(await one.getByRole('link', { name: /^lastmonth-/ }).count(), 0, 'a job of last month is not in the list');
    await one.getByLabel('Where').selectOption('archived');
    await one.getByLabel('Name', { exact: true }).fill('lastmonth');
    await one.getByRole('button', { name: 'Show' }).click();
    await look(one, 'jobs-archived');
    await one.getByRole('link', { name: /^lastmonth-/ }).click();
    like(await shown(one), /It is archived.*what it printed.*script: echo what it printed/s, 'it is found by its name, with its output and job file');
    await look(one, 'job-archived');
    await one.getByRole('link', { name: 'Submit one like it' }).click();
    like(await one.getByLabel(/Job file/).inputValue(), /name: lastmonth/, 'another one like it begins with its job file');

    // A job by a form, like another one, and what today's templates would change.
    await one.goto('/new');
    await one.getByLabel('Library and type').selectOption('pytorch/single');
    await one.getByRole('button', { name: 'Fill in a form' }).click();
    await one.getByLabel('Name', { exact: true }).fill('formed');
    await one.getByLabel('A script, in place').fill('echo');
    await look(one, 'new-form');
    await one.getByLabel('CPUs').first().fill('lots');
    await one.getByRole('button', { name: 'Make the job file' }).click();
    like(await one.locator('label', { has: one.locator('[name=cpus0]') }).innerText(), /^CPUs\s*found "lots", expected/, 'a mistake in a form is told at its field');
    is(await one.locator('[name=cpus0]').inputValue(), 'lots', 'where what was typed stays');
    await look(one, 'new-form-mistake');
    await one.locator('[name=cpus0]').fill('1');
    await one.getByRole('button', { name: 'Make the job file' }).click();
    like(await shown(one), /This job file is good/, 'a form makes a good job file');
    await one.getByRole('button', { name: 'Submit' }).click();
    await one.waitForURL(/\/jobs\/formed-/);
    await one.getByRole('link', { name: 'Submit one like it' }).click();
    like(await one.getByLabel(/Job file/).inputValue(), /name: "?formed/, 'another one like it begins with its job file');
    await one.goto(`/jobs/${special}/difference`);
    like(await shown(one), /would be rendered to the same manifest/, 'today it would be the same');
    await look(one, 'difference');

    // What there is, and what was used.
    const due = await submit(one, 'name: due\nlibrary: any\ntype: single\ndeadline: +2h\nunits: {total: 1000, pattern: "step {done}"}\n'
        + 'script: |\n  #!/bin/sh\n  for i in $(seq 600); do echo "step $i"; sleep 0.1; done\n'
        + 'tasks: {main: {cpus: 0.1, memory: 64Mi}}\n');
    await until(one, '/plan', /CPUs over time/);
    for (const [name, words] of [['cluster', /Capacity.*Queues/s], ['plan', /CPUs over time.*due-/s], ['me', /user1.*5001/s],
        ['usage', /CPU-hours by day/]]) {
        await one.goto(`/${name}`);
        like(await shown(one), words, `the page ${name} says what it is about`);
        await look(one, name);
    }

    await one.goto(`/jobs/${due}`);
    await one.getByRole('button', { name: 'kill' }).click();

    // With a token, from elsewhere: what is no token is told, and what the token is not for.
    const far = await person(door);
    await far.goto('/jobs');
    await look(far, 'sign-in');
    for (const [token, words] of [['not mine', /That is no token/], [`dlspool_${'0'.repeat(64)}`, /token/]]) {
        await far.getByLabel(/Token/).fill(token);
        const loaded = far.waitForEvent('load');
        await far.keyboard.press('Enter');
        await loaded;
        like(await shown(far), words, 'what is no token signs nobody in');
    }
    await far.getByLabel(/Token/).fill(process.env.TOKEN);
    await far.getByRole('button', { name: 'Sign in' }).click();
    await far.waitForURL(/\/jobs$/);
    like(await shown(far), new RegExp(grows), 'a token does, and the jobs are there');
    await far.goto('/new');
    await far.getByLabel(/Job file/).fill('name: no\nscript: "#!/bin/sh"\n');
    await far.getByRole('button', { name: 'Submit' }).click();
    like(await alerts(far), /this token is for reading; that takes one of scope submit/, 'a token to read with submits nothing');
    await far.goto('/me');
    await look(far, 'me-token');
    await far.getByRole('button', { name: 'Sign out' }).click();
    await far.goto('/jobs');
    is(await far.getByRole('heading', { level: 1 }).innerText(), 'Sign in', 'who has signed out has to sign in again');

    // Without script, by keyboard.
    const plain = await person(page2, { javaScriptEnabled: false });
    await plain.goto('/new');
    await plain.getByLabel(/Job file/).focus();
    await plain.keyboard.press('Control+A');
    await plain.keyboard.type('name: typed\nlibrary: any\ntype: single\nscript: "#!/bin/sh"\n');
    for (let i = 0; i < 5; i++) {
        await plain.keyboard.press('Tab');
        if (await plain.locator('button:focus', { hasText: 'Submit' }).count())
            break;
    }
    await plain.keyboard.press('Enter');
    await plain.waitForURL(/\/jobs\/typed-/);
    say(true, 'the keyboard does it, and no script is needed');

    // Everywhere.
    is(faults.join('\n'), '', `axe finds no fault in ${seen.length} pages, light, dark and on a phone`);
    is(wide.join('\n'), '', 'no page is wider than its window, and no table than a phone');
    is([...elsewhere].join('\n'), '', 'nothing is asked of anybody else');
    is([...complaints].join('\n'), '', 'the browser complains of nothing');
} catch (error) {
    const page = last && await shown(last).catch(() => 'no page');
    say(false, 'the pages are as people expect them', `${error.message}, and the page says: ${page}`);
} finally {
    await browser.close();
}
