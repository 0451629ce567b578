# One sample of the machine's figures, which the timer takes each minute: a line of JSON at the end of a ring of three hours. In
# Perl, which every Debian and Ubuntu has, because one process reads some hundred small files in a few milliseconds, where a shell
# would start one for each.
#
#   {"t":SECONDS,"s":[figures of the machine],"i":{"INSTANCE":[figures of the instance]}}
#
# In the order of shared/domain/metrics.ts; null is what could not be measured. Flows are means since the sample before. It reads
# the kernel's files, those of the containers' cgroups, and what is new in the sites' access logs. Tenants choose nothing that is
# printed: it is all numbers, and names of directories that root has made. Below watch/: containers ("NAME ID"), slow ("INSTANCE
# SECONDS SECONDS", once in ten minutes: watch.sh), counters (of the sample before), ring. The file stale says that containers are
# missing.
use strict;    # and warnings in tests: the module alone takes a tenth of the time

my $root = $ENV{ERP_HOSTING_ROOT} // '/var/lib/erp-hosting';
my $proc = $ENV{ERP_HOSTING_PROC} // '/proc';    # others for tests
my $cgroup = $ENV{ERP_HOSTING_CGROUP} // '/sys/fs/cgroup';
my $watch = "$root/watch";
my ($LINES, $RING_BYTES, $LOG_BYTES) = (180, 8 << 20, 1 << 20);

# Empty if it cannot be read. How long some of these are is up to a tenant.
sub text {    # FILE
	open my $file, '<', $_[0] or return '';
	my $text = '';
	while (length $text < 4 << 20 && sysread $file, $text, 1 << 14, length $text) { }
	return $text;
}

# The clock may jump.
my ($uptime) = text("$proc/uptime") =~ /^(\d+\.?\d*)/;
my %before = text("$watch/counters") =~ /^(\S+) (\S+)$/mg;
my %after = (uptime => $uptime);
my $seconds = $uptime - ($before{uptime} // $uptime);
my $continues = $seconds >= 1 && $seconds <= 600;

# What a counter has grown by; undefined if it was not read before, or has begun anew.
sub growth {    # NAME VALUE
	my ($name, $value) = @_;
	return undef unless defined $value;
	$after{$name} = $value;
	return undef unless $continues && defined $before{$name} && $value >= $before{$name};
	return $value - $before{$name};
}

sub flow {    # NAME VALUE: a second
	my $growth = growth(@_);
	return defined $growth ? $growth / $seconds : undef;
}

sub percent {    # NAME MICROSECONDS: 100 is one whole processor
	my $flow = flow(@_);
	return defined $flow ? $flow / 10_000 : undef;
}

sub sum {
	my $sum;
	for (@_) { $sum = ($sum // 0) + $_ if defined }
	return $sum;
}

sub machine {
	my ($user, $nice, $system, $idle, $wait, @more) = text("$proc/stat") =~ /^cpu +(.*)/ ? split ' ', $1 : return ();
	my $busy = growth('busy', $user + $nice + $system + sum(@more[0 .. 2]));
	my $unused = growth('unused', $idle + $wait);
	my %memory = text("$proc/meminfo") =~ /^(\w+): +(\d+) kB$/mg;
	my ($load) = text("$proc/loadavg") =~ /^(\S+)/;
	my ($read, $written) = (0, 0);
	for (text("$proc/diskstats") =~ /^ *\d+ +\d+ ((?:sd|vd|xvd)[a-z]+|nvme\d+n\d+|mmcblk\d+) \d+ \d+ (\d+ \d+ \d+ \d+ \d+)/mg) {
		next unless /^(\d+) \d+ \d+ \d+ (\d+)$/;
		($read, $written) = ($read + 512 * $1, $written + 512 * $2);
	}
	my ($in, $out) = traffic("$proc/net/dev", sub { $_[0] !~ /^(lo$|docker|br-|veth)/ });
	return (
		defined $busy && defined $unused && $busy + $unused > 0 ? 100 * $busy / ($busy + $unused) : undef,
		$load,
		1024 * ($memory{MemTotal} - $memory{MemAvailable}),
		1024 * ($memory{SwapTotal} - $memory{SwapFree}),
		disk_used(),
		flow('read', $read), flow('written', $written), flow('in', $in), flow('out', $out)
	);
}

sub disk_used {
	my $place = text("$root/disk/docker_root") =~ /^(\/.+)/ ? $1 : $root;
	open my $stat, '-|', 'stat', '-f', '-c', '%S %b %f', $place or return undef;
	my ($block, $blocks, $free) = split ' ', <$stat> // '';
	return defined $free ? ($blocks - $free) * $block : undef;
}

sub traffic {    # FILE INTERFACES: bytes received and sent by these
	my ($file, $counts) = @_;
	my ($in, $out);
	for (split /\n/, text($file)) {
		next unless /^ *([^ :]+): *(\d+)(?: +\d+){7} +(\d+)/ && $counts->($1);
		($in, $out) = (($in // 0) + $2, ($out // 0) + $3);
	}
	return ($in, $out);
}

# By either version of cgroups, and either way in which Docker names them. Empty if it does not run.
sub container {    # NAME ID
	my ($name, $id) = @_;
	return {} unless defined $id;
	for my $path ("system.slice/docker-$id.scope", "docker/$id") {
		if (-e "$cgroup/$path/cpu.stat") {
			my ($cpu) = text("$cgroup/$path/cpu.stat") =~ /^usage_usec (\d+)/m;
			my ($cache) = text("$cgroup/$path/memory.stat") =~ /^inactive_file (\d+)/m;
			return described($name, "$cgroup/$path", $cpu, text("$cgroup/$path/memory.current"), $cache);
		}
		if (-e "$cgroup/cpuacct/$path/cpuacct.usage") {
			my ($cpu, $memory) = ("$cgroup/cpuacct/$path", "$cgroup/memory/$path");
			my ($cache) = text("$memory/memory.stat") =~ /^total_inactive_file (\d+)/m;
			return described($name, $cpu, text("$cpu/cpuacct.usage") / 1000, text("$memory/memory.usage_in_bytes"), $cache);
		}
	}
	return {};
}

# Without what the kernel would drop from its cache first: with it, every container fills its memory in time. Between the two
# readings, a container may have dropped it by itself.
sub described {    # NAME CGROUP MICROSECONDS BYTES CACHE
	my ($name, $path, $cpu, $memory, $cache) = @_;
	my ($process) = text("$path/cgroup.procs") =~ /^(\d+)/ or return {};
	my $used = $memory =~ /^(\d+)/ ? $1 - ($cache // 0) : undef;
	return { cpu => percent("cpu.$name", $cpu), memory => defined $used && $used < 0 ? 0 : $used, network => "$proc/$process/net" };
}

sub runs { return defined $_[0]{network} }    # CONTAINER

# Of the ERP's interfaces, those that its database is not reached by: it is on a network with the database, and on one with the
# proxy.
sub erp_traffic {    # ERP DATABASE
	my ($erp, $database) = @_;
	my %to_database = map { $_ => 1 } runs($database) ? text("$database->{network}/route") =~ /^\S+\t(?!00000000)(\w+)\t/mg : ();
	my %interface = reverse text("$erp->{network}/route") =~ /^(\S+)\t(?!00000000)(\w+)\t/mg;
	my %excluded = map { $interface{$_} // '' => 1 } keys %to_database;
	return traffic("$erp->{network}/dev", sub { $_[0] ne 'lo' && !$excluded{$_[0]} });
}

# All of its sockets but those that listen: PostgreSQL's, and that of Docker's resolver. Which they are, the kernel says only with
# its whole table of sockets, which takes it milliseconds; so they are counted once, as soon as PostgreSQL listens.
sub connections {    # NAME NETWORK
	my ($name, $network) = @_;
	my ($listening) = ($before{"listening.$name"} // '') =~ m{^\Q$network\E:(\d+)$};
	if (!defined $listening) {
		my @ports = map { text("$network/$_") =~ /^ *\d+: \w+:(\w+) \w+:\w+ 0A /mg } 'tcp', 'tcp6';
		return undef unless grep { hex == 5432 } @ports;
		$listening = @ports;
	}
	$after{"listening.$name"} = "$network:$listening";
	my $sockets = sum(map { text("$network/$_") =~ /^TCP6?: inuse (\d+)/m } 'sockstat', 'sockstat6') // return undef;
	return $sockets > $listening ? $sockets - $listening : 0;
}

my $logs = (text("$root/disk/docker_root") =~ /^(\/.+)/ ? $1 : '/var/lib/docker') . '/volumes/erp-caddy_data/_data/log';

# What the proxy has written about a site since the sample before: requests and errors of a minute, and how long half of them
# took, and 95 of 100. Of more than a megabyte, its end stands for all.
sub requests {    # INSTANCE LOG
	my ($id, $path) = @_;
	open my $file, '<:raw', $path or return (undef) x 4;
	my ($inode, $size) = (stat $file)[1, 7];
	my ($known, $place) = ($before{"log.$id"} // '') =~ /^(\d+):(\d+)$/;
	my $from = defined $known && $known == $inode && $place <= $size ? $place : 0;
	my $rest = defined $known && $known != $inode ? rolled($id, $known, $place) : '';
	my $start = $size - $from > $LOG_BYTES ? $size - $LOG_BYTES : $from;
	seek $file, $start, 0;
	read $file, my $new, $size - $start;
	$new =~ s/[^\n]*\z//;    # a line that is being written
	$new =~ s/\A[^\n]*\n// if $start > $from;
	my $end = $start == $from ? $from + length $new : $size;
	$after{"log.$id"} = "$inode:$end";
	return (undef) x 4 unless defined $known && $continues;
	# In JSON, a quotation mark that a client has sent has a backslash before it.
	my ($count, $errors, @ms) = (0, 0);
	my $share = length $new ? ($end - $from) / length $new : 1;
	$new = $rest . $new;
	while ($new =~ /^\{"level".*?,"duration":([0-9.e+-]+),.*?"status":(\d{3})\b/mg) {
		$count++;
		$errors++ if $2 >= 500;
		push @ms, 1000 * $1 if $2 != 101;    # a live connection lasts as long as its page is open
	}
	@ms = sort { $a <=> $b } @ms;
	my $minutes = $seconds / 60;
	return ($count * $share / $minutes, $errors * $share / $minutes, map { @ms ? $ms[int($_ * @ms)] : undef } 0.5, 0.95);
}

# The end of a log that the proxy has begun anew since.
sub rolled {    # INSTANCE INODE FROM
	my ($id, $inode, $from) = @_;
	opendir my $folder, $logs or return '';
	for my $name (grep { /^\Q$id\E-\d.*\.log$/ } readdir $folder) {
		open my $file, '<:raw', "$logs/$name" or next;
		next unless (stat $file)[1] == $inode;
		seek $file, $from, 0;
		my $rest = '';
		read $file, $rest, $LOG_BYTES;
		return $rest;
	}
	return '';
}

my %id_of = text("$watch/containers") =~ /^(erp-[a-z0-9_-]{1,60}) ([0-9a-f]{64})$/mg;
my %slow = map { /^(\w+) (\d{1,15}) (\d{1,15})$/ ? ($1 => [$2, $3]) : () } split /\n/, text("$watch/slow");
my $is_tenth = unlink "$watch/slow";    # the sizes are measured by disk.sh, and shown as seldom

my $missing = 0;
my @instances;
opendir my $folder, "$root/instances";
for my $id (sort grep { /^[a-z0-9_]{1,50}$/ } readdir $folder) {
	my $here = "$root/instances/$id/";
	my ($erp, $database) = map { container($_, $id_of{$_}) } "erp-$id", "erp-$id-db";
	$missing = 1 if text("${here}wanted") =~ /^running/ && !(runs($erp) && runs($database));
	my @traffic = runs($erp) ? erp_traffic($erp, $database) : ();
	my @used = $is_tenth && text("${here}used") =~ /^(\d{1,15}) (\d{1,15})$/ ? ($1, $2) : (undef, undef);
	my @figures = (
		$erp->{cpu}, $erp->{memory}, $database->{cpu}, $database->{memory},
		flow("in.$id", $traffic[0]), flow("out.$id", $traffic[1]),
		requests($id, "$logs/$id.log"),
		runs($database) ? connections("erp-$id-db", $database->{network}) : undef,
		@used, @{ $slow{$id} // [undef, undef] }
	);
	push @instances, "\"$id\":" . array(@figures);
}

sub array {
	return '[' . join(',', map { defined ? 0 + sprintf('%.3f', $_) : 'null' } @_) . ']';
}

sub replace {    # FILE TEXT
	my ($path, $text) = @_;
	open my $file, '>', "$path.draft" or die "$path: $!";
	print $file $text;
	close $file or die "$path: $!";
	rename "$path.draft", $path;
}

my $line = sprintf '{"t":%d,"s":%s,"i":{%s}}', time, array(machine()), join ',', @instances;
# Half as many lines again, by the file's size: to count them each minute would be to read megabytes.
if ((-s "$watch/ring" // 0) < 1.5 * $LINES * length "$line\n") {
	open my $ring, '>>', "$watch/ring" or die "$watch/ring: $!";
	print $ring "$line\n";
}
else {
	open my $ring, '<', "$watch/ring" or die "$watch/ring: $!";
	my $from = (-s $ring) - $RING_BYTES;
	seek $ring, $from, 0 if $from > 0;
	my @lines = <$ring>;
	splice @lines, 0, @lines - $LINES + 1 if @lines >= $LINES;
	replace("$watch/ring", join '', @lines, "$line\n");
}
replace("$watch/counters", join '', map { "$_ $after{$_}\n" } sort keys %after);
if ($missing) { replace("$watch/stale", '') }
else { unlink "$watch/stale" }
