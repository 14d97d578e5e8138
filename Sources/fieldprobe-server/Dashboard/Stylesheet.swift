/// The one stylesheet. Light and dark are two sets of the same names; a narrow screen turns tables into cards.
enum Stylesheet {
    static let text = colours + layout + parts + drawings

    private static let colours = """
        :root {
            color-scheme: light dark;
            --back: #f6f7f9; --front: #1b2430; --soft: #5b6675; --card: #ffffff; --edge: #dde2e9;
            --accent: #1f5fbf; --on-accent: #ffffff; --danger: #b3261e;
            --good-back: #dcf3e4; --good: #14632f; --bad-back: #fbe0de; --bad: #8f1d17; --off-back: #e7eaef; --off: #4a5564;
            --casing: #2a3442;
            --excellent: #1a9850; --signal-good: #91cf60; --fair: #fdae61; --weak: #d7302f; --unknown: #9aa4b1;
            --wifi: #2f7ed8; --cellular: #8e5bd0; --ethernet: #1a9c8c; --vpn: #c7791a; --other: #8a94a3; --none: #d7302f;
        }
        @media (prefers-color-scheme: dark) {
            :root {
                --back: #12161c; --front: #e6eaf0; --soft: #9aa6b6; --card: #1b212a; --edge: #2e3743;
                --accent: #7db2ff; --on-accent: #0d1a2c; --danger: #ff8a80;
                --good-back: #143524; --good: #8fe0ae; --bad-back: #43201d; --bad: #ffb0a8; --off-back: #2a323d; --off: #b4bfcd;
                --casing: #0a0d11;
                --excellent: #31b867; --signal-good: #a6d96a; --fair: #fdb863; --weak: #f46d5b; --unknown: #7c8796;
                --wifi: #5ba2f0; --cellular: #b089ec; --ethernet: #3fc0af; --vpn: #e0a04c; --other: #8a94a3; --none: #f46d5b;
            }
        }

        """

    private static let layout = """
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--back); color: var(--front); font: 16px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
        header { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1.5rem; padding: .6rem 1.25rem;
            background: var(--card); border-bottom: 1px solid var(--edge); }
        header nav { display: flex; flex-wrap: wrap; gap: .25rem; flex: 1; }
        header nav a { padding: .3rem .7rem; border-radius: .5rem; color: var(--soft); text-decoration: none; }
        header nav a:hover { color: var(--front); }
        header nav a[aria-current] { background: var(--off-back); color: var(--front); font-weight: 600; }
        .brand { font-weight: 700; color: var(--front); text-decoration: none; letter-spacing: .01em; }
        main { max-width: 72rem; margin: 0 auto; padding: 1.25rem; }
        h1 { font-size: 1.6rem; line-height: 1.25; margin: .4rem 0 1rem; overflow-wrap: anywhere; }
        h2 { font-size: 1.1rem; margin: 2rem 0 .75rem; }
        a { color: var(--accent); }
        code, pre { font: .9em/1.45 ui-monospace, "DejaVu Sans Mono", monospace; }
        pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 24rem; overflow: auto; }
        .light, .hint, .none { color: var(--soft); }
        .light { font-weight: 400; }
        .hint { font-size: .9rem; }
        .none { background: var(--card); border: 1px dashed var(--edge); border-radius: .75rem; padding: 1rem; }
        .paging { display: flex; justify-content: space-between; margin: 1rem 0; color: var(--soft); }

        """

    private static let parts = """
        .cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .75rem; }
        .card { display: flex; flex-direction: column; background: var(--card); border: 1px solid var(--edge); border-radius: .75rem;
            padding: 1rem 1.1rem; text-decoration: none; color: var(--front); }
        .card:hover { border-color: var(--accent); }
        .card strong { font-size: 2rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
        .card small { color: var(--soft); }
        table { width: 100%; border-collapse: separate; border-spacing: 0; background: var(--card); border: 1px solid var(--edge);
            border-radius: .75rem; overflow: hidden; font-variant-numeric: tabular-nums; }
        th, td { text-align: left; vertical-align: top; padding: .5rem .8rem; border-bottom: 1px solid var(--edge); overflow-wrap: anywhere; }
        td { min-width: 6.6rem; }
        time, .number, td code { white-space: nowrap; }
        th { font-size: .8rem; font-weight: 600; color: var(--soft); white-space: nowrap; }
        tbody tr:last-child td { border-bottom: 0; }
        .state, .tag { display: inline-block; padding: .05rem .55rem; border-radius: 1rem; font-size: .85rem; white-space: nowrap; }
        .good { background: var(--good-back); color: var(--good); }
        .bad { background: var(--bad-back); color: var(--bad); }
        .off, .tag { background: var(--off-back); color: var(--off); }
        .tag { max-width: 14rem; overflow: hidden; text-overflow: ellipsis; vertical-align: bottom; }
        meter { width: 5rem; vertical-align: middle; }
        .facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: .75rem 1.5rem; margin: 0;
            background: var(--card); border: 1px solid var(--edge); border-radius: .75rem; padding: 1rem 1.1rem; }
        .facts dt { font-size: .8rem; color: var(--soft); overflow-wrap: anywhere; }
        .facts dd { margin: 0; overflow-wrap: anywhere; }
        .facts div:has(pre) { grid-column: 1 / -1; }
        ul.plain { margin: 0; padding: 0; list-style: none; }
        label { display: flex; flex-direction: column; gap: .2rem; font-size: .85rem; color: var(--soft); }
        input, select, button { font: inherit; padding: .45rem .7rem; border: 1px solid var(--edge); border-radius: .5rem;
            background: var(--card); color: var(--front); min-width: 0; max-width: 100%; }
        input, select, button { font-size: 1rem; }
        button { background: var(--accent); border-color: var(--accent); color: var(--on-accent); cursor: pointer; }
        button.quiet { background: none; border-color: var(--edge); color: var(--soft); font-size: .9rem; overflow-wrap: anywhere; }
        button.danger { background: none; border-color: var(--danger); color: var(--danger); }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
        .filter, .action { display: flex; flex-wrap: wrap; align-items: end; gap: .75rem; margin: 1rem 0; }
        .action { background: var(--card); border: 1px solid var(--edge); border-radius: .75rem; padding: 1rem 1.1rem; }
        .action .hint { flex-basis: 100%; margin: 0; }
        .login { max-width: 22rem; margin: 12vh auto 0; display: flex; flex-direction: column; gap: 1rem; background: var(--card);
            border: 1px solid var(--edge); border-radius: 1rem; padding: 1.75rem; }
        .login h1 { margin: 0; }
        .fault { margin: 0; padding: .5rem .8rem; border-radius: .5rem; background: var(--bad-back); color: var(--bad); }
        @media (max-width: 44rem) {
            main { padding: 1rem .75rem; }
            header { padding: .6rem .75rem; }
            header nav { order: 3; flex-basis: 100%; gap: 0; }
            header nav a { padding: .3rem .5rem; font-size: .95rem; }
            .brand { flex: 1; }
            .cards { grid-template-columns: 1fr 1fr; }
            table, tbody, tr, td { display: block; }
            thead { display: none; }
            tr { padding: .5rem 0; border-bottom: 1px solid var(--edge); }
            tbody tr:last-child { border-bottom: 0; }
            td { display: grid; min-width: 0; grid-template-columns: 9rem 1fr; gap: .5rem; border: 0; padding: .15rem .9rem; }
            td::before { content: attr(data-label); color: var(--soft); font-size: .85rem; }
            td:empty { display: none; }
            svg text { font-size: 22px; }
        }

        """

    private static let drawings = """
        figure { margin: 0 0 1rem; background: var(--card); border: 1px solid var(--edge); border-radius: .75rem; padding: .75rem; }
        figcaption { padding: .5rem .35rem 0; }
        figcaption p { margin: .25rem 0 0; }
        svg { display: block; width: 100%; height: auto; }
        svg text { fill: var(--soft); font-size: 13px; }
        svg path { fill: none; stroke-linecap: round; stroke-linejoin: round; }
        .legend { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; margin: 0; padding: 0; list-style: none; font-size: .85rem; color: var(--soft); }
        .swatch { display: inline-block; width: .9rem; height: .9rem; border-radius: .25rem; margin-right: .4rem; vertical-align: -.1rem; }
        .track { max-height: 34rem; }
        path.casing { stroke: var(--casing); stroke-width: 9; }
        .line path { stroke-width: 6; }
        .fixes circle { stroke: var(--casing); stroke-width: 1; }
        .start circle { fill: var(--card); stroke: var(--front); stroke-width: 3; }
        .end circle { fill: var(--front); stroke: var(--card); stroke-width: 3; }
        .scale path, .north path, .axis path { stroke: var(--soft); stroke-width: 1.5; }
        .north text { text-anchor: middle; }
        .gap { fill: var(--weak); }
        .signal-excellent { stroke: var(--excellent); fill: var(--excellent); background: var(--excellent); }
        .signal-good { stroke: var(--signal-good); fill: var(--signal-good); background: var(--signal-good); }
        .signal-fair { stroke: var(--fair); fill: var(--fair); background: var(--fair); }
        .signal-weak { stroke: var(--weak); fill: var(--weak); background: var(--weak); }
        .signal-unknown { stroke: var(--unknown); fill: var(--unknown); background: var(--unknown); }
        .timeline rect { stroke: none; }
        .timeline rect[class^="kind-"], .timeline rect[class^="signal-"] { rx: 3px; }
        .kind-wifi { fill: var(--wifi); background: var(--wifi); }
        .kind-cellular { fill: var(--cellular); background: var(--cellular); }
        .kind-ethernet { fill: var(--ethernet); background: var(--ethernet); }
        .kind-vpn { fill: var(--vpn); background: var(--vpn); }
        .kind-none { fill: var(--none); background: var(--none); }
        .kind-other, .kind-loopback, .kind-bluetooth { fill: var(--other); background: var(--other); }

        """
}
