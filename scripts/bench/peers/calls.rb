# The calls in a run of a project's tests: for each line that calls a method by a name, the place of
# the method's definition. Loaded before the tests; writes at the end, a line each, to CALLS_TO:
# path, line, name, path and line of the definition ("-": none in a file), and its name
# there, which differs if the call is of an alias.
calls = {}
root = "#{File.realpath(ENV.fetch("CALLS_ROOT"))}/"
made = ->(name) { name == :initialize ? :new : name }
classes = {}.compare_by_identity
# Of methods that are written in C those of `attr_reader` have a place.
places = Hash.new { |known, (type, name)| known[[type, name]] = type.instance_method(name).source_location }
# A method that Forwardable makes calls the one of its holder: that is a target where it is called.
FRAMES = 4
site = lambda do |frames|
  makers = (frames || []).take_while { |frame| frame.path.end_with?("/forwardable.rb") }
  place = frames&.at(makers.size)
  [place&.absolute_path, place&.lineno, makers.last&.base_label&.to_sym]
end
TracePoint.new(:call, :c_call, :class) do |point|
  if point.event == :class
    classes[point.self] ||= [point.path, point.lineno]
  elsif point.event == :c_call
    classes[point.self] ||= [point.path, point.lineno] if point.method_id == :initialize && point.self.is_a?(Module)
    next if point.method_id == :new

    from, line, name = point.path&.start_with?(root) ? [point.path, point.lineno] : site.(caller_locations(1, FRAMES))
    next unless from&.start_with?(root)

    calls[[from, line, name || point.method_id, *(places[[point.defined_class, point.method_id]] || ["-", 0]), point.method_id]] = true
  else
    # A method that is written in C has its caller's line, as `new` does.
    from, line, name = site.(caller_locations(2, FRAMES))
    next unless from&.start_with?(root)

    names = [name || point.callee_id, point.method_id].map(&made)
    calls[[from, line, names[0], point.path, point.lineno, names[1]]] = true
    # The constructor may be that of a base: the class that is made is a target, too.
    next unless names[0] == :new && (opened = classes[point.self.class])

    calls[[from, line, :new, *opened, point.self.class.name.to_s.split("::").last]] = true
  end
end.enable
at_exit do
  at_exit do
    File.open(ENV.fetch("CALLS_TO"), "w") do |out|
      calls.each_key { |one| out.puts(one.join("\t")) }
    end
  end
end
